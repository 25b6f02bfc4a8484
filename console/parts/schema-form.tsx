import type { Json, JsonObject } from "../../src/lib/json.ts";
import { oneLine } from "../lib/format.ts";

/** A form for a JSON Schema of an agent: objects of plain members; anything else is a field for JSON. */

export interface FormField {
  readonly name: string;
  readonly kind: "text" | "long" | "number" | "boolean" | "choice" | "json";
  readonly label: string;
  readonly help: string;
  readonly isRequired: boolean;
  readonly choices: readonly string[];
  readonly initial: string;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function kindOf(schema: Record<string, unknown>): FormField["kind"] {
  if (Array.isArray(schema.enum)) return "choice";
  const type = Array.isArray(schema.type) ? schema.type.find(one => one !== "null") : schema.type;
  if (type === "boolean") return "boolean";
  if (type === "number" || type === "integer") return "number";
  if (type === "string")
    return Number(schema.maxLength ?? 0) > 200 || schema.format === "textarea" ? "long" : "text";
  return "json";
}

export function fieldsOf(schema: JsonObject | null): readonly FormField[] {
  const properties = schema?.properties as Record<string, Record<string, unknown>> | undefined;
  if (!properties || typeof properties !== "object") return [];
  const required = Array.isArray(schema?.required) ? schema.required : [];
  return Object.entries(properties)
    .slice(0, 60)
    .map(([name, one]) => {
      const kind = kindOf(one);
      const initial =
        one.default === undefined
          ? ""
          : typeof one.default === "string"
            ? one.default
            : JSON.stringify(one.default);
      return {
        name,
        kind,
        label: text(one.title) || name,
        help: text(one.description),
        isRequired: required.includes(name),
        choices: Array.isArray(one.enum) ? one.enum.map(String) : [],
        initial,
      };
    });
}

/** The value of the form, or what is wrong with it. */
export function readForm(
  fields: readonly FormField[],
  values: Readonly<Record<string, string>>,
): { readonly value: JsonObject } | { readonly wrong: Readonly<Record<string, string>> } {
  const value: Record<string, Json> = {};
  const wrong: Record<string, string> = {};
  for (const field of fields) {
    const raw = values[field.name] ?? field.initial;
    if (field.kind === "boolean") {
      if (raw !== "" || field.isRequired) value[field.name] = raw === "true";
    } else if (raw === "") {
      if (field.isRequired) wrong[field.name] = "Required";
    } else if (field.kind === "number") {
      if (Number.isFinite(Number(raw))) value[field.name] = Number(raw);
      else wrong[field.name] = "Not a number";
    } else if (field.kind === "json") {
      try {
        value[field.name] = JSON.parse(raw) as Json;
      } catch {
        wrong[field.name] = "Not JSON";
      }
    } else value[field.name] = raw;
  }
  return Object.keys(wrong).length > 0 ? { wrong } : { value };
}

export function SchemaForm({
  fields,
  values,
  wrong,
  onChange,
}: {
  readonly fields: readonly FormField[];
  readonly values: Readonly<Record<string, string>>;
  readonly wrong: Readonly<Record<string, string>>;
  readonly onChange: (name: string, value: string) => void;
}) {
  return (
    <div class="schema-form">
      {fields.map(field => (
        <label key={field.name} class="lab">
          <span>
            {oneLine(field.label, 80)} {field.isRequired && <span class="dim">required</span>}
          </span>
          <FieldInput
            field={field}
            value={values[field.name] ?? field.initial}
            isWrong={field.name in wrong}
            onChange={value => onChange(field.name, value)}
          />
          {wrong[field.name] ? (
            <span class="is-wrong" role="alert">
              {wrong[field.name]}
            </span>
          ) : (
            field.help && <span class="dim">{oneLine(field.help, 200)}</span>
          )}
        </label>
      ))}
    </div>
  );
}

function FieldInput({
  field,
  value,
  isWrong,
  onChange,
}: {
  readonly field: FormField;
  readonly value: string;
  readonly isWrong: boolean;
  readonly onChange: (value: string) => void;
}) {
  const invalid = isWrong ? "true" : undefined;
  if (field.kind === "boolean")
    return (
      <input
        type="checkbox"
        checked={value === "true"}
        onChange={event => onChange(String(event.currentTarget.checked))}
      />
    );
  if (field.kind === "choice")
    return (
      <select
        class="field"
        aria-invalid={invalid}
        value={value}
        onChange={event => onChange(event.currentTarget.value)}
      >
        <option value="">–</option>
        {field.choices.map(one => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    );
  if (field.kind === "json" || field.kind === "long")
    return (
      <textarea
        class={`area${field.kind === "json" ? " mono" : ""}`}
        rows={2}
        aria-invalid={invalid}
        value={value}
        placeholder={field.kind === "json" ? "JSON" : ""}
        onInput={event => onChange(event.currentTarget.value)}
      />
    );
  return (
    <input
      class="field"
      inputMode={field.kind === "number" ? "decimal" : "text"}
      aria-invalid={invalid}
      value={value}
      onInput={event => onChange(event.currentTarget.value)}
    />
  );
}
