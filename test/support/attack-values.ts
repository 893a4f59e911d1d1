/** JSON that is nested too deeply. */
export const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`

/** Raw JSON values that replace each scalar of each body in turn. */
export const rawValues: Record<string, string> = {
  operator: '{"$gt":""}',
  where: '{"$where":"sleep(5000)"}',
  array: '[]',
  'array of operators': '[{"$ne":1}]',
  boolean: 'true',
  null: 'null',
  nul: '"a\\u0000b"',
  'lone surrogate': '"\\ud800"',
  proto: '{"__proto__":{"admin":true}}',
  'proto text': '"__proto__"',
  infinity: '1e309',
  negative: '-1',
  'huge integer': '9007199254740993',
  fraction: '0.1',
  'digit string': '"1"',
  blank: '"  "',
  'long text': JSON.stringify('x'.repeat(100_000)),
  'regex bomb': JSON.stringify(`${'a'.repeat(5000)}!(a+)+$`),
  'many at signs': JSON.stringify('@'.repeat(255)),
  deep,
}

/** Attacks that could reach the database as more than a plain value. */
export const sharpValues = [rawValues.operator, rawValues.nul, rawValues.proto] as string[]
