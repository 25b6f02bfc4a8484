import { boolean, file, jsonFromText, list, type Option, text } from "./option.ts";

/** The keys themselves, as a key file has them. */
const keys: Option<string | undefined> = {
  ...text({
    help: "Content of a key file, instead of the file",
    default: undefined,
    placeholder: "json",
    expected: "the content of a key file",
    isValid: content => content !== "",
  }),
  isFlag: false,
  isSecret: true,
};

const command = list({
  help: "Command that prints the content of a key file, instead of the file",
  default: undefined,
  placeholder: "words",
  expected: "a program and its arguments, as a list or with spaces between them",
  isValid: word => word !== "",
});

export const KEY_OPTIONS = {
  signCards: boolean({ help: "Sign the agent cards of v1.0 and v0.3", default: true }),
  keyFile: file("Keys of the server", "keys.json in the data folder"),
  keys,
  keysCommand: {
    ...command,
    // A JSON list, where an argument contains spaces.
    fromText: words =>
      words.trim().startsWith("[") ? jsonFromText(words) : words.split(/\s+/).filter(word => word !== ""),
    parse: value => (Array.isArray(value) && value.length === 0 ? undefined : command.parse(value)),
  } as Option<readonly string[] | undefined>,
};
