package import IoTCore
package import MediaChannel
package import RTP

/// The streams of this box's cameras, for players that read the unchanged packets.
package protocol GatewayStreams: Sendable {
    /// The tracks of one of a camera's definitions.
    ///
    /// - Throws: 8002 for a device that the account does not have, 25003 for one that is not a camera of this box.
    func tracks(of device: String, _ definition: Definition) async throws -> [RTPCodec]

    /// Adds a reader of a camera. The lease ends when the right to view the camera ends.
    func read(_ device: String, _ definition: Definition, sink: any ReaderSink) async throws -> StreamUse
}

/// A reader, and its part of the account's quota.
package struct StreamUse: Sendable {
    package let reader: CameraReader
    private let part: QuotaPart

    init(reader: CameraReader, part: QuotaPart) {
        self.reader = reader
        self.part = part
    }
}
