/* global callslip */
/** Runs in each frame of a page. Turns texts into the data of a drag or of the clipboard, and back. */
callslip.transfers = (() => {
  /** The texts of a transfer, without its files: a list of `[type, text]`. */
  function textsOf(transfer) {
    return [...transfer.types].filter((type) => type !== 'Files').map((type) => [type, transfer.getData(type)]);
  }

  function withTexts(texts) {
    const transfer = new DataTransfer();
    for (const [type, text] of texts) transfer.setData(type, text);
    return transfer;
  }

  return { textsOf, withTexts };
})();
