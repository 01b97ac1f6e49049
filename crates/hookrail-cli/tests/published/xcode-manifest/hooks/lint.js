// Gives the answer that the document prints for what must not happen.
const event = JSON.parse(require('fs').readFileSync(0, 'utf-8'))
if (JSON.stringify(event.tool.args).includes('prod')) {
  console.log('{ "decision": "deny", "reason": "Editing prod config is forbidden" }')
}
