import Foundation
import GatewayAPI
import IoTCore
import MediaChannel
import NIOCore

@testable import Gateway
@testable import RecordingStore

/// One recording, `1`.
struct ScriptedRecordings: GatewayRecordings {
    static let text = String((0..<1_000).map { Character(Unicode.Scalar(UInt8(48 + $0 % 61))) })

    let session: ScriptedSession

    func list(_ device: String, _ query: RecordedTimeQuery) async throws -> RecordingList {
        try session.note()
        return RecordingList(recordings: [])
    }

    func ranges(_ device: String, _ query: RecordedTimeQuery) async throws -> RecordedTimeList {
        try session.note()
        return RecordedTimeList(ranges: [])
    }

    func days(_ device: String, in times: Range<Int64>, by division: DayDivision) async throws -> RecordedDayList {
        try session.note()
        return RecordedDayList(days: [])
    }

    func open(_ device: String, _ recording: String) async throws -> RangedFile {
        try session.note()
        return RangedFile(
            name: "fr\"ont-1.mp4", contentType: "video/mp4", size: Int64(Self.text.utf8.count), tag: "1-2"
        ) { offset, count in
            // As a disk may, it gives fewer bytes than wanted.
            ByteBuffer(bytes: Self.text.utf8.dropFirst(Int(offset)).prefix(min(count, 300)))
        }
    }

    func clip(_ device: String, in times: Range<Int64>) async throws -> RangedFile {
        try await open(device, "1")
    }

    func picture(_ device: String, at time: Int64, _ bounds: PictureBounds?) async throws -> Picture {
        try session.note()
        return Picture(format: .jpeg, pts: time, bytes: ByteBuffer(string: "jpeg"))
    }

    func pictures(
        _ device: String, in times: Range<Int64>, every length: Int64, _ bounds: PictureBounds?
    ) async throws -> RecordingThumbnails {
        try session.note()
        return RecordingThumbnails(
            thumbnails: [RecordingThumbnail(from: times.lowerBound, time: times.lowerBound, jpeg: Data("jpeg".utf8))])
    }

    func playlist(
        _ device: String, in times: Range<Int64>, isOpen: Bool, query: String
    ) async throws -> HLSPlaylist {
        try session.note()
        return HLSPlaylist(RecordedStream(), start: 0, isOpen: isOpen, query: query)
    }

    func header(_ device: String, _ recording: String) async throws -> MediaBody {
        try session.note()
        return MediaBody(contentType: "video/mp4", bytes: ByteBuffer(string: "header"))
    }

    func part(_ device: String, _ recording: String, first: Int, count: Int) async throws -> MediaBody {
        try session.note()
        return MediaBody(contentType: "video/mp4", bytes: ByteBuffer(string: "part"))
    }

    func remove(_ device: String, in times: Range<Int64>) async throws -> RecordingRemovalReport {
        try session.note()
        return RecordingRemovalReport(removed: 0, bytes: 0, kept: 0, inUse: 0, growing: 0)
    }

    func kept(_ device: String) async throws -> KeptTimeList {
        try session.note()
        return KeptTimeList(kept: [])
    }

    func keep(_ device: String, in times: Range<Int64>, note: String) async throws -> KeptTime {
        try session.note()
        return KeptTime(id: "1", from: times.lowerBound, to: times.upperBound, note: note)
    }

    func release(_ device: String, _ kept: String) async throws { try session.note() }

    func check(isThorough: Bool) async throws -> RecordingCheck {
        try session.note()
        return RecordingCheck(segments: 0, bytes: 0, findingCount: 0, findings: [])
    }
}
