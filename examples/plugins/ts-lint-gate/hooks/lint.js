// Fired on PreToolUse for write_file and replace. Whole new files are linted before they are written; for a
// replacement the file is linted as it stands.
const { readFileSync } = require('fs')
const { spawnSync } = require('child_process')

const event = JSON.parse(readFileSync(0, 'utf-8'))
const { path, content } = event.tool.args

function answer(decision) {
  console.log(JSON.stringify(decision))
}

if (typeof path !== 'string' || !path.endsWith('.ts')) {
  answer({ decision: 'allow' })
} else {
  const whole = typeof content === 'string'
  const args = whole ? ['--quiet', '--stdin', '--stdin-filename', path] : ['--quiet', '--', path]
  // No shell is involved: the path comes from a model and is nothing but an argument.
  const lint = spawnSync('eslint', args, { input: whole ? content : '', encoding: 'utf-8' })
  if (lint.error) {
    answer({ decision: 'deny', reason: `Lint could not run: ${lint.error.message}` })
  } else if (lint.status !== 0) {
    answer({ decision: 'deny', reason: `Lint failed:\n${lint.stdout || lint.stderr}` })
  } else {
    answer({ decision: 'allow' })
  }
}
