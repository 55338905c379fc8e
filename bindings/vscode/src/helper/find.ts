// find.ts - where the program `openpai` is: a setting, PATH, or beside the extension

import * as path from "path";

export interface Places {
  /** The setting openpai.path; "" where it is not set. */
  setting: string;
  /** The variable PATH. */
  path: string;
  /** The folder of the extension. */
  extension: string;
  home: string;
  exists(file: string): boolean;
}

/** A path of the settings: "~/" is the user's home folder. */
function expand(setting: string, home: string): string {
  return setting.startsWith("~/") ? path.join(home, setting.slice(2)) : setting;
}

/**
 * The path of the program, or undefined. A setting that leads nowhere is not passed over:
 * the user meant that program and no other.
 */
export function findProgram(places: Places): string | undefined {
  if (places.setting !== "") {
    const file = expand(places.setting, places.home);
    return path.isAbsolute(file) && places.exists(file) ? file : undefined;
  }
  const folders = places.path.split(path.delimiter).filter(folder => path.isAbsolute(folder));
  return [...folders, path.join(places.extension, "bin")]
    .map(folder => path.join(folder, "openpai"))
    .find(file => places.exists(file));
}
