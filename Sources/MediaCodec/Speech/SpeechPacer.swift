package import NIOCore

/// Turns sound that arrives irregularly, or at the pace of another clock, into frames at the pace of the monotonic clock.
/// It owns no clock: push sound when it comes, and call `nextFrame(at:)` at `nextDue`.
///
/// The pacer plays up to 0.5 % faster or slower to keep the amount of waiting sound near the target. While no sound
/// waits, the frames are silent. Sound fades out before silence and fades in after it, so that nothing clicks. If more
/// than the limit waits, the oldest sound is dropped.
package struct SpeechPacer: Sendable {
    package struct Options: Sendable {
        /// Samples per second of both sides.
        package var sampleRate: Int
        package var frameDuration: TimeAmount
        /// How much sound waits for a frame when the latest of the newest inputs came: the frame, and time for jitter
        /// that was not seen before. A frame and 25 ms is the least that is safe with inputs of 20 ms.
        package var target: TimeAmount
        /// How much sound may wait.
        package var limit: TimeAmount

        package init(
            sampleRate: Int = SpeechFormat.sampleRate, frameDuration: TimeAmount = .milliseconds(20),
            target: TimeAmount = .milliseconds(50), limit: TimeAmount = .milliseconds(200)
        ) {
            self.sampleRate = sampleRate
            self.frameDuration = frameDuration
            self.target = target
            self.limit = max(limit, target + frameDuration)
        }

        func samples(_ time: TimeAmount) -> Int { Int(time.nanoseconds * Int64(sampleRate) / 1_000_000_000) }
    }

    package struct Counters: Sendable, Equatable {
        /// How often the sound stopped because nothing more had come: late sound, or a sender that pauses.
        package var underruns = 0
        /// Samples of silence in the frames, without those before the first sound.
        package var filled = 0
        /// Samples that were dropped because too many waited.
        package var dropped = 0
        /// Frames that nobody took in time.
        package var skippedFrames = 0
    }

    package struct Frame: Sendable {
        package var samples: [Int16]
        /// The time of the first sample. Times grow by exactly one frame, unless frames were skipped.
        package var due: NIODeadline
        /// True if no sample comes from the input.
        package var isSilent: Bool
    }

    /// The largest change of speed; a change of pitch of 9 cents is not heard in speech.
    private static let largestChange = 0.005
    /// Seconds of excess at which the speed changes most.
    private static let excessOfLargestChange = 0.020
    /// Seconds of excess that change nothing, so that regular sound passes unchanged.
    private static let toleratedExcess = 0.001
    /// Seconds over which the excess is averaged; one packet more or less must not be heard as a change of pitch.
    private static let averagingTime = 1.0
    /// The least slack of so many inputs is what is kept, so that jitter has its room.
    private static let observedInputs = 50
    /// The interpolation needs two samples after the place that plays.
    private static let margin = 2
    /// Seconds in which sound fades.
    private static let fadeTime = 0.005

    package let options: Options
    package private(set) var counters = Counters()
    /// When the next frame is due.
    package private(set) var nextDue: NIODeadline

    private let frameLength: Int
    private let target: Int
    private let limit: Int
    private let fadeLength: Int
    /// More than the target, because the first sound may have been early.
    private var startLevel: Int { target + shortest }
    /// Less sound than this is not started: it would only fade.
    private var shortest: Int { fadeLength + Self.margin }
    /// Samples that wait, after one that has been played already.
    private var queue: [Int16] = [0]
    /// The place in `queue` that plays next.
    private var position = 1.0
    private var isPlaying = false
    private var hasPlayed = false
    private var isFinishing = false
    private var gain = 0.0
    /// The slack of the newest inputs, in samples: how long before they were needed they came.
    private var slacks: [Int] = []
    /// The average excess of the least slack, in samples.
    private var excess = 0.0

    /// - Parameter start: when the first frame is due.
    package init(_ options: Options = Options(), start: NIODeadline) {
        self.options = options
        nextDue = start
        frameLength = max(1, options.samples(options.frameDuration))
        target = options.samples(options.target)
        limit = options.samples(options.limit)
        fadeLength = max(1, Int(Self.fadeTime * Double(options.sampleRate)))
    }

    // MARK: Input

    /// Adds sound that has come. Only the newest remains if more than the limit would wait.
    package mutating func push(_ samples: [Int16], at now: NIODeadline) {
        guard !samples.isEmpty else { return }
        if slacks.count == Self.observedInputs { slacks.removeFirst() }
        slacks.append(waiting + options.samples(nextDue - now))
        queue += samples
        let waiting = self.waiting
        if waiting > limit { drop(waiting - target) }
    }

    /// How many samples should wait in addition: a source that can be read at any time, such as a file, is read this
    /// far before each frame.
    package var shortfall: Int { max(0, (isPlaying ? target : startLevel) - waiting) }

    /// No more sound will come: the rest is played without waiting for the target.
    package mutating func finish() { isFinishing = true }

    /// True if no more sound will come and all of it was played.
    package var isFinished: Bool { isFinishing && !isPlaying && waiting < shortest }

    /// Samples that have not been played.
    var waiting: Int { max(0, queue.count - Int(position.rounded(.up))) }

    /// Drops the oldest samples, with a cross-fade to those that remain.
    private mutating func drop(_ count: Int) {
        let first = Int(position)
        let fade = min(fadeLength, count, queue.count - first - count)
        for index in 0..<fade {
            let share = Double(index + 1) / Double(fade + 1)
            let old = Double(queue[first + index])
            let new = Double(queue[first + count + index])
            queue[first + count + index] = Int16(old + (new - old) * share)
        }
        // The sample before the position remains for the interpolation.
        queue.removeSubrange(first..<first + count)
        counters.dropped += count
        forgetExcess()
    }

    // MARK: Output

    /// The next frame, or `nil` before `nextDue`. Call it until it returns `nil`: a caller that was late gets the missed
    /// frames, but at most those of the limit.
    package mutating func nextFrame(at now: NIODeadline) -> Frame? {
        guard now >= nextDue else { return nil }
        let late = (now - nextDue).nanoseconds / options.frameDuration.nanoseconds
        if late > options.limit.nanoseconds / options.frameDuration.nanoseconds {
            counters.skippedFrames += Int(late)
            nextDue = nextDue + .nanoseconds(late * options.frameDuration.nanoseconds)
        }
        let due = nextDue
        nextDue = nextDue + options.frameDuration
        startIfReady()
        guard isPlaying else {
            if hasPlayed { counters.filled += frameLength }
            return Frame(samples: [Int16](repeating: 0, count: frameLength), due: due, isSilent: true)
        }
        let (samples, played) = play(step: nextStep())
        forgetPlayed()
        return Frame(samples: samples, due: due, isSilent: played == 0)
    }

    private mutating func startIfReady() {
        guard !isPlaying, waiting >= startLevel || isFinishing && waiting >= shortest else { return }
        isPlaying = true
        hasPlayed = true
        forgetExcess()
    }

    private mutating func forgetExcess() {
        slacks.removeAll(keepingCapacity: true)
        excess = 0
    }

    /// How many samples of the input one sample of the output takes.
    private mutating func nextStep() -> Double {
        let seconds = options.frameDuration.nanoseconds.asSeconds
        let wanted = target - frameLength
        excess += (Double((slacks.min() ?? wanted) - wanted) - excess) * min(1, seconds / Self.averagingTime)
        guard !isFinishing else { return 1 }
        let average = excess / Double(options.sampleRate)
        let change = max(0, average.magnitude - Self.toleratedExcess) / Self.excessOfLargestChange
        return 1 + (average < 0 ? -1 : 1) * min(1, change) * Self.largestChange
    }

    /// Returns a frame, and how many of its samples come from the input.
    private mutating func play(step: Double) -> ([Int16], Int) {
        let start = Int(position)
        // The usual case: the sound passes unchanged.
        if step == 1, gain == 1, position == Double(start), waiting >= frameLength + shortest {
            position += Double(frameLength)
            return (Array(queue[start..<start + frameLength]), frameLength)
        }
        var played = 0
        let samples = [Int16](unsafeUninitializedCapacity: frameLength) { output, count in
            count = frameLength
            played = queue.withUnsafeBufferPointer { write($0, step: step, to: output) }
        }
        if played < frameLength {
            isPlaying = false
            counters.underruns += isFinishing ? 0 : 1
            counters.filled += frameLength - played
        }
        return (samples, played)
    }

    /// Returns the number of samples before the sound ended; silence follows them.
    private mutating func write(
        _ input: UnsafeBufferPointer<Int16>, step: Double, to output: UnsafeMutableBufferPointer<Int16>
    ) -> Int {
        let change = 1 / Double(fadeLength)
        let last = Double(input.count - Self.margin)
        let fadeOut = last - Double(fadeLength) * step
        var (position, gain) = (position, gain)
        defer { (self.position, self.gain) = (position, gain) }
        for index in 0..<frameLength {
            // The end comes near: the sound fades out, and stops when it is silent.
            gain = position > fadeOut ? gain - change : min(1, gain + change)
            guard position < last, gain > 0 else {
                gain = 0
                for rest in index..<frameLength { output[rest] = 0 }
                return index
            }
            let place = Int(position)
            output[index] = Self.sample(input, place, position - Double(place), gain)
            position += step
        }
        return frameLength
    }

    /// Cubic interpolation (Catmull and Rom, 1974) between the samples at `place` and after it.
    private static func sample(
        _ input: UnsafeBufferPointer<Int16>, _ place: Int, _ fraction: Double, _ gain: Double
    ) -> Int16 {
        let a = Double(input[place - 1])
        let b = Double(input[place])
        let c = Double(input[place + 1])
        let d = Double(input[min(place + 2, input.count - 1)])
        let slope = 0.5 * (c - a)
        let bend = a - 2.5 * b + 2 * c - 0.5 * d
        let twist = 0.5 * (d - a) + 1.5 * (b - c)
        let value = (((twist * fraction + bend) * fraction + slope) * fraction + b) * gain
        return Int16(max(-32_768, min(32_767, value.rounded())))
    }

    private mutating func forgetPlayed() {
        let count = Int(position) - 1
        guard count > 0 else { return }
        queue.removeFirst(count)
        position -= Double(count)
    }
}

extension Int64 {
    /// Nanoseconds as seconds.
    fileprivate var asSeconds: Double { Double(self) / 1_000_000_000 }
}
