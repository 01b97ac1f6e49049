// Fired on PreToolUse for writeFile|edit, which call their file `filePath`. A host whose tools have other names
// declares them, and this plugin works unchanged.
const data = require('fs').readFileSync(0, 'utf-8')
const event = JSON.parse(data)
const filePath = event.tool.args.filePath

if (!filePath.endsWith('.ts')) {
  console.log(JSON.stringify({ decision: 'allow' }))
  process.exit(0)
}

const { execFileSync } = require('child_process')
try {
  execFileSync('eslint', ['--quiet', filePath], { stdio: 'pipe' })
  console.log(JSON.stringify({ decision: 'allow' }))
} catch (e) {
  console.log(
    JSON.stringify({
      decision: 'deny',
      reason: `Lint failed:\n${e.stdout?.toString() || e.message}`,
    }),
  )
}
