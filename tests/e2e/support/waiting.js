/** Fails if the promise has not settled in time; a rejection counts as settled. */
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
