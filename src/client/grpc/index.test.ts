import { expect, test } from "vitest";
import { ClientError } from "../errors.ts";
import { createGrpc } from "./index.ts";

test("without @grpc/grpc-js, the error names the command that installs it", async () => {
  const missing = Object.assign(new Error("Cannot find package '@grpc/grpc-js'"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  const target = { url: "http://h:1", headers: {}, fetch, credentials: async () => ({}) };
  const created = createGrpc(target, () => Promise.reject(missing));
  await expect(created).rejects.toBeInstanceOf(ClientError);
  await expect(created).rejects.toThrow(
    "Calling an agent over gRPC needs the package @grpc/grpc-js, which is not installed: npm install @grpc/grpc-js",
  );
});
