/** For programs of this repository that Node starts itself (`node --import`): `dragoman/…` is its sources, without a build. */
import { installHooks } from "../../src/loader/module-hooks.ts";

installHooks();
