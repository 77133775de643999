/**
 * Tables that differ from those of a tracker. Each has `name`; `sql` that makes the difference, in
 * the case's own SCHEMA and ROLE; `says`, the tracker's message.
 */

/** The tracker's statements on each table. */
const RIGHTS = {
  cell: ['SELECT', 'UPDATE'],
  entries: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  sessions: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  events: ['SELECT', 'INSERT', 'DELETE'],
  images: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
};

export const MISSING_RIGHTS = Object.entries(RIGHTS).flatMap(([table, rights]) => rights.map((right) => ({
  name: `no ${right} privilege on callslip_${table}`,
  sql: `REVOKE ${right} ON SCHEMA.callslip_${table} FROM ROLE`,
  says: RegExp(`permission denied for table callslip_${table}.*must be able to make tables.*read, insert`),
})));

export const MISSING_TABLES = Object.keys(RIGHTS).filter((table) => table !== 'images').map((table) => ({
  name: `no table callslip_${table}`,
  sql: `DROP TABLE SCHEMA.callslip_${table}`,
  says: RegExp(`callslip_${table}.*does not exist`),
}));

const COLUMNS = {
  cell: ['part', 'epoch', 'count', 'owner', 'released', 'last_sequence', 'latest'],
  entries: ['key', 'until', 'record', 'crc'],
  sessions: ['id', 'metadata', 'queue'],
  events: ['session', 'seq', 'line'],
  images: ['session', 'id', 'data'],
};

export const MISSING_COLUMNS = Object.entries(COLUMNS).flatMap(([table, columns]) => columns.map((column) => ({
  name: `no column ${column} in callslip_${table}`,
  sql: `ALTER TABLE SCHEMA.callslip_${table} RENAME ${column} TO other`,
  says: RegExp(`tables in --storage are not as a tracker makes them.*${column}.*does not exist.*restore all`),
})));

export const OTHER_TABLES = [
  {
    name: 'no version in callslip_cell',
    sql: 'ALTER TABLE SCHEMA.callslip_cell RENAME format TO other',
    says: /column "format" does not exist/,
  },
  ...['fence', 'journal', 'beat'].map((part) => ({
    name: `a newer version in the row ${part} of callslip_cell`,
    sql: `UPDATE SCHEMA.callslip_cell SET format = 99 WHERE part = '${part}'`,
    says: /of a newer version \(format 99, this tracker knows \d+\): use a newer tracker, or another schema/,
  })),
  ...['fence', 'journal', 'beat'].map((part) => ({
    name: `no row ${part} in callslip_cell`,
    sql: `DELETE FROM SCHEMA.callslip_cell WHERE part = '${part}'`,
    says: /callslip_cell has lost its rows: restore all callslip_ tables from one backup/,
  })),
  {
    name: 'an empty callslip_cell',
    sql: 'DELETE FROM SCHEMA.callslip_cell',
    says: /callslip_cell has lost its rows: restore all callslip_ tables from one backup/,
  },
  {
    name: 'different epochs in the rows of callslip_cell',
    sql: "UPDATE SCHEMA.callslip_cell SET epoch = 7 WHERE part = 'journal'",
    says: /rows of callslip_cell are of more than one epoch: restore all/,
  },
];
