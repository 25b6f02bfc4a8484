/** Preloaded into the programs of the documents: every server gets a free port, and says on standard error which. */
import { Server } from "node:net";

const listen = Server.prototype.listen;
Server.prototype.listen = function (...parameters) {
  const [first, ...rest] = parameters;
  const wanted = typeof first === "object" && first !== null ? first.port : first;
  this.once("listening", () => process.stderr.write(`listening ${wanted} ${this.address().port}\n`));
  if (typeof first === "object" && first !== null) return listen.call(this, { ...first, port: 0 }, ...rest);
  return listen.call(this, 0, ...rest);
};
