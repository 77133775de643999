/** Fails when the promise has not settled in time; an answer that is an error is an answer. */
export async function settlesWithin(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} had not settled after ${ms} ms.`)), ms);
  });
  try {
    const [outcome] = await Promise.race([Promise.allSettled([promise]), late]);
    return outcome;
  } finally {
    clearTimeout(timer);
  }
}
