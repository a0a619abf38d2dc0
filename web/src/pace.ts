// How often the page draws. The engine often runs on the same machine: a page that draws in software, or a large body, must not take the time of
// the simulation that it shows.
const kQuick = 34; // a picture that is there so soon costs nothing worth saving [ms]
const kLongest = 250; // between two pictures, however slow they are [ms]

export class Pace {
  cost = 0; // how long the last picture held up the page, by the next call after it [ms]
  slow = 0; // the same of all that were slow, together [ms]
  pictures = 0;
  private last = 0;
  private due = 0;
  private drew = false;

  /// At every chance to draw: whether to take it. After a picture that took long, as much time is left to others.
  take(now: number): boolean {
    if (this.drew) {
      this.cost = now - this.last;
      const isSlow = this.cost > kQuick;
      this.due = isSlow ? now + Math.min(this.cost, kLongest) : now;
      this.slow += isSlow ? this.cost : 0;
    }
    this.last = now;
    this.drew = now >= this.due;
    this.pictures += this.drew ? 1 : 0;
    return this.drew;
  }
}
