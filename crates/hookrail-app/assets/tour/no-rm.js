// A module: the same events, in JavaScript. This dialect calls the tool `bash`.
export default function (pi) {
  pi.on("tool_call", async (event) => {
    if (event.toolName === "bash" && event.input.command.includes("rm -rf")) {
      return { block: true, reason: "rm -rf is not for agents" };
    }
  });
}
