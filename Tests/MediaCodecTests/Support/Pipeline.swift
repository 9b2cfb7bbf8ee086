import Foundation
import IoTCore
import MediaCodec
import NIOCore

/// Reads and decodes whole sources as the product does.
enum Pipeline {
    static func frames(_ url: String, _ options: DemuxerOptions = DemuxerOptions()) throws -> [MediaFrame] {
        let demuxer = try MediaDemuxer(url: url, options: options)
        var frames: [MediaFrame] = []
        while let frame = try demuxer.readFrame() { frames.append(frame) }
        return frames
    }

    /// Decodes the video of `url` and calls `body` with each picture.
    /// - Parameter asFromRTP: Keeps only the presentation times, as over RTP.
    @discardableResult
    static func decodeVideo(
        _ url: String, options: DemuxerOptions = DemuxerOptions(), asFromRTP: Bool = false,
        _ body: (VideoPicture) throws -> Void
    ) throws -> VideoDecoder {
        let demuxer = try MediaDemuxer(url: url, options: options)
        let parameters = try required(demuxer.video)
        let decoder = try VideoDecoder(parameters)
        while var frame = try demuxer.readFrame() {
            guard frame.kind == .video else { continue }
            if asFromRTP { frame.dts = frame.pts }
            for picture in try decoder.decode(frame, isShown: !demuxer.isDecodeOnly) { try body(picture) }
        }
        for picture in decoder.flush() { try body(picture) }
        return decoder
    }

    private struct Enough: Error {}

    /// The difference of the decoded pictures of `url` to `reference`, ffmpeg's raw video; nil if there is none.
    /// - Parameter limit: The maximum number of pictures to read.
    static func difference(
        _ url: String, from reference: Data, options: DemuxerOptions = DemuxerOptions(), asFromRTP: Bool = false,
        limit: Int? = nil
    ) throws -> String? {
        var offset = 0
        var count = 0
        var lastPTS = Int64.min
        var failure: String?
        do {
            try decodeVideo(url, options: options, asFromRTP: asFromRTP) { picture in
                guard failure == nil, count != limit else { throw Enough() }
                let bytes = picture.packedBytes()
                if picture.isCorrupt {
                    failure = "picture \(count) is marked as corrupt"
                } else if picture.pts <= lastPTS {
                    failure = "picture \(count) has pts \(picture.pts) after \(lastPTS)"
                } else if offset + bytes.readableBytes > reference.count {
                    failure = "picture \(count) is one too many"
                } else if !isEqual(bytes, reference, at: offset) {
                    failure = "picture \(count) differs"
                }
                lastPTS = picture.pts
                offset += bytes.readableBytes
                count += 1
            }
        } catch is Enough {
            return failure
        }
        if failure == nil, offset != reference.count { failure = "only \(count) pictures, \(offset) bytes" }
        return count == 0 ? "no picture" : failure
    }

    private static func isEqual(_ bytes: ByteBuffer, _ reference: Data, at offset: Int) -> Bool {
        bytes.withUnsafeReadableBytes { ours in
            reference.withUnsafeBytes { theirs in
                memcmp(ours.baseAddress!, theirs.baseAddress! + offset, ours.count) == 0
            }
        }
    }

    static func decodeAudio(_ url: String) throws -> [AudioBuffer] {
        let demuxer = try MediaDemuxer(url: url)
        let decoder = try AudioDecoder(try required(demuxer.audio))
        var buffers: [AudioBuffer] = []
        while let frame = try demuxer.readFrame() {
            if frame.kind == .audio { buffers += try decoder.decode(frame) }
        }
        return buffers + decoder.flush()
    }

    /// Remuxes `url` into a fragmented MP4.
    static func record(_ url: String, asFromRTP: Bool = true, chunk: (ByteBuffer) -> Void = { _ in }) throws -> Data {
        let demuxer = try MediaDemuxer(url: url)
        let muxer = try MP4Stream(video: demuxer.video, audio: demuxer.audio)
        var data = Data()
        while var frame = try demuxer.readFrame() {
            if asFromRTP { frame.dts = frame.pts }
            if let bytes = try muxer.write(frame) {
                chunk(bytes)
                data.append(contentsOf: bytes.readableBytesView)
            }
        }
        data.append(contentsOf: muxer.finish().readableBytesView)
        return data
    }

    static func required<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw FFmpegTool.Failure(description: "the track is missing") }
        return value
    }
}
