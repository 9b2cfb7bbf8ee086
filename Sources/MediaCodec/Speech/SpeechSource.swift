/// Where spoken sound comes from: 48 kHz mono. The built-in ones read files and pipes; a program's own captures from a
/// microphone. It has a thread of its own and a bounded queue; no call blocks.
public protocol SpeechSource: AnyObject, Sendable {
    /// True if the sound comes at its own pace, so that all of it must be taken (into a `SpeechPacer`). False if it is
    /// read ahead and waits until it is taken.
    var isLive: Bool { get }

    /// At most `count` samples: none if none has come yet.
    func take(_ count: Int) -> [Int16]

    /// `nil` while more sound may come, or some waits to be taken.
    var end: CaptureEnd? { get }

    /// Ends the source. A second call does nothing.
    func close()
}
