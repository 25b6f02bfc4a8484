import { JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { clientV1Contract } from "./sdk-v1.contract.ts";

clientV1Contract("JSONRPC", options => new JsonRpcTransportFactory(options));
