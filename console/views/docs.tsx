export function Docs() {
  return null;
}
