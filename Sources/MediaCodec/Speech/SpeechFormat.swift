/// The form of spoken sound in this product: mono Int16 samples.
package enum SpeechFormat {
    /// Samples per second: Opus's own rate, also its RTP clock (RFC 7587 §4.1).
    package static let sampleRate = 48_000

    /// Samples in a frame of 20 ms, the default `ptime` (RFC 7587 §6.1).
    package static let frameLength = 960
}
