export function Server() { return null; }
