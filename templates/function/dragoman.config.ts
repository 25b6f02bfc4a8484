import { defineConfig } from "dragoman";

export default defineConfig({ agents: ["agents"] });
