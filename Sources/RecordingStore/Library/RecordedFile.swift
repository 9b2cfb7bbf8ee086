package import IoTCore
package import NIOCore

/// Bytes of recordings. While it is referenced they do not change, and what they are read from is not removed.
package protocol RecordedFile: AnyObject, Sendable {
    var size: Int64 { get }
    /// Without quotes (RFC 9110 §8.8.3): two files with the same tag have the same bytes.
    var tag: String { get }

    /// Reads up to `count` bytes: at least one before the end, none at the end. Blocks.
    ///
    /// - Throws: `recorderUnavailable` if the disk fails, or a recording's file is shorter than its index says.
    func read(at offset: Int64, count: Int) throws(IoTError) -> ByteBuffer
}

extension OpenRecording: RecordedFile {}
extension OpenClip: RecordedFile {}
extension OpenFragments: RecordedFile {}
