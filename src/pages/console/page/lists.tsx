import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

/** A column of a {@link Table}. */
export interface Column<T> {
  name: string
  isNumber?: boolean
  cell: (row: T) => ComponentChildren
}

/**
 * A table whose first column names the row, one page at a time. On a phone, each row becomes a list of column names and
 * cells.
 */
export function Table<T>({ label, columns, rows, keyOf }: TableProps<T>) {
  const [first, ...others] = columns
  return (
    <Pages rows={rows}>
      {(page) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <section class="scrolls" tabIndex={0} aria-label={`${label} as a table`}>
          <table>
            <thead>
              <tr>
                {columns.map(({ name, isNumber }) => (
                  <th key={name} scope="col" class={isNumber ? 'number' : ''}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {page.map((row) => (
                <tr key={keyOf(row)}>
                  <th scope="row">{first.cell(row)}</th>
                  {others.map(({ name, isNumber, cell }) => (
                    <td key={name} data-name={name} class={isNumber ? 'number' : ''}>
                      {cell(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Pages>
  )
}

interface TableProps<T> {
  label: string
  columns: [Column<T>, ...Column<T>[]]
  rows: T[]
  keyOf: (row: T) => string | number
}

const rowsPerPage = 10

/**
 * Shows a list one page at a time.
 *
 * @param loadOlder loads older rows; absent if the list is complete
 */
export function Pages<T>({ rows, loadOlder, children }: PagesProps<T>) {
  const [page, setPage] = useState(0)
  const [isReading, setReading] = useState(false)
  const start = Math.min(page, Math.max(0, Math.ceil(rows.length / rowsPerPage) - 1)) * rowsPerPage
  const end = Math.min(start + rowsPerPage, rows.length)
  const turn = async (pages: number) => {
    setReading(true)
    if (pages > 0 && end === rows.length) await loadOlder?.()
    setReading(false)
    setPage(start / rowsPerPage + pages)
  }
  return (
    <>
      {children(rows.slice(start, end))}
      {(rows.length > rowsPerPage || loadOlder) && (
        <div class="pages">
          <button type="button" onClick={() => turn(-1)} disabled={start === 0}>
            Newer
          </button>
          <span role="status">
            {isReading
              ? 'Loading…'
              : `${rows.length > 0 ? start + 1 : 0} to ${end} of ${rows.length}${loadOlder ? ' or more' : ''}`}
          </span>
          <button
            type="button"
            onClick={() => turn(1)}
            disabled={isReading || (end === rows.length && !loadOlder)}
          >
            Older
          </button>
        </div>
      )}
    </>
  )
}

interface PagesProps<T> {
  rows: T[]
  loadOlder?: (() => Promise<void>) | undefined
  children: (page: T[]) => ComponentChildren
}
