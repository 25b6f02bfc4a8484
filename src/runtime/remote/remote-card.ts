/** Reads the card of a remote agent, of any version. */
import type { ExtendedCard, SkillDefinition } from "../../agent/definition.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { type AgentExtension, LIMITS } from "../../model/index.ts";

/** Invalid members are left out, so that our own card stays valid. */
export function toExtendedCard(card: JsonObject): ExtendedCard {
  const { organization, url } = asObject(card.provider);
  const provider = asText(organization) &&
    isUrl(url) && { organization: organization as string, url: url as string };
  return defined<ExtendedCard>({
    description: asText(card.description) || undefined,
    version: asText(card.version) || undefined,
    provider: provider || undefined,
    documentationUrl: isUrl(card.documentationUrl) ? (card.documentationUrl as string) : undefined,
    iconUrl: isUrl(card.iconUrl) ? (card.iconUrl as string) : undefined,
    inputModes: toStrings(card.defaultInputModes),
    outputModes: toStrings(card.defaultOutputModes),
    skills: toSkills(card),
    extensions: toExtensions(card),
  });
}

const isUrl = (value: Json | undefined): boolean => typeof value === "string" && URL.canParse(value);

function toStrings(value: Json | undefined): readonly string[] | undefined {
  const found = asList(value).filter(one => typeof one === "string" && one !== "");
  return found.length > 0 ? (found.slice(0, LIMITS.listEntriesMax) as readonly string[]) : undefined;
}

function toSkills(card: JsonObject): readonly SkillDefinition[] | undefined {
  const skills = asList(card.skills)
    .map(asObject)
    .filter(skill => asText(skill.id))
    .slice(0, LIMITS.listEntriesMax)
    .map(skill =>
      defined<SkillDefinition>({
        id: skill.id as string,
        name: asText(skill.name) || undefined,
        description: asText(skill.description) || undefined,
        tags: toStrings(skill.tags),
        examples: toStrings(skill.examples),
        inputModes: toStrings(skill.inputModes),
        outputModes: toStrings(skill.outputModes),
      }),
    );
  return skills.length > 0 ? skills : undefined;
}

/** Without `required`: this server activates required extensions itself. */
function toExtensions(card: JsonObject): readonly AgentExtension[] | undefined {
  const extensions = asList(asObject(card.capabilities).extensions)
    .map(asObject)
    .filter(one => asText(one.uri))
    .slice(0, LIMITS.listEntriesMax)
    .map(one =>
      defined<AgentExtension>({
        uri: one.uri as string,
        description: asText(one.description) || undefined,
        params: Object.keys(asObject(one.params)).length > 0 ? asObject(one.params) : undefined,
      }),
    );
  return extensions.length > 0 ? extensions : undefined;
}
