// node:fs/promises, which is what node:fs calls `promises`.
import { promises } from "node:fs";
export const { readFile, writeFile, appendFile, access, stat, lstat, readdir, mkdir, mkdtemp, rm, unlink, rmdir, rename, copyFile, realpath, readlink, chmod, truncate, symlink, utimes, cp, constants } = promises;
export default promises;
