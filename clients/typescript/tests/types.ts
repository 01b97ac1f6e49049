// Checked by `tsc --strict` against the installed package; never run.

import { AbortedError, BusError, Client, NotGuarded, type Decision, type Lifecycle, type Response } from "hookrail-client";

export async function guarded(path: string): Promise<string> {
  const hooks: Client = await Client.connect(path, { timeout: 1000, onError: console.error });
  hooks.onLifecycle((news: Lifecycle) => console.log(news.phase));
  try {
    const answer: Response = await hooks.execute("BeforeTool", { tool_name: "x" }, { signal: AbortSignal.timeout(5) });
    const decision: Decision = answer.decision;
    // @ts-expect-error There is no such property: a misspelt check does not compile.
    if (answer.allowed) return "no";
    return answer.mayProceed ? "yes" : (answer.reason ?? String(decision));
  } catch (error) {
    if (error instanceof BusError) return error.code;
    if (error instanceof AbortedError || error instanceof NotGuarded) return error.message;
    throw error;
  } finally {
    await hooks.close();
  }
}

// @ts-expect-error A client is made by `connect` or `spawn`.
export const wrong = new Client();
