import Testing

@testable import Gateway
@testable import RecordingStore

@Suite struct HLSPlaylistTests {
    private static let wall: Int64 = 1_795_555_844_687_000

    private static func part(_ number: UInt32, _ first: Int, at second: Int64, isKey: Bool = true) -> RecordedPart {
        let camera = CameraNumber(rawValue: 1)!
        return RecordedPart(
            segment: SegmentID(camera: camera, number: number), first: first, count: 4,
            start: wall + second * 1_000_000,
            duration: 4_040_000, startsWithKeyFrame: isKey)
    }

    private static func stream(isGrowing: Bool = false) -> RecordedStream {
        var stream = RecordedStream()
        stream.stretches = [
            RecordedStream.Stretch(
                header: part(7, 0, at: 0).segment, parts: [part(7, 0, at: 0), part(7, 4, at: 4), part(8, 0, at: 8)]),
            RecordedStream.Stretch(header: part(9, 0, at: 0).segment, parts: [part(9, 0, at: 60)]),
        ]
        stream.isGrowing = isGrowing
        return stream
    }

    @Test("Two runs: each has its header, each recording its time, and the player begins within the first part")
    func text() {
        let playlist = HLSPlaylist(Self.stream(), start: Self.wall + 1_500_000, isOpen: false, query: "")
        #expect(
            playlist.text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:4
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-START:TIME-OFFSET=1.500000,PRECISE=YES
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MAP:URI="7/init.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2026-11-24T21:30:44.687Z
                #EXTINF:4.040000,
                7/media.m4s?first=0&count=4
                #EXTINF:4.040000,
                7/media.m4s?first=4&count=4
                #EXT-X-PROGRAM-DATE-TIME:2026-11-24T21:30:52.687Z
                #EXTINF:4.040000,
                8/media.m4s?first=0&count=4
                #EXT-X-DISCONTINUITY
                #EXT-X-MAP:URI="9/init.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2026-11-24T21:31:44.687Z
                #EXTINF:4.040000,
                9/media.m4s?first=0&count=4
                #EXT-X-ENDLIST

                """)
    }

    @Test("Only an open playlist of a recording that grows has no end; each address has the key")
    func growing() {
        let open = HLSPlaylist(Self.stream(isGrowing: true), start: 0, isOpen: true, query: "key=k")
        #expect(open.text.contains("#EXT-X-PLAYLIST-TYPE:EVENT") && !open.text.contains("ENDLIST"))
        #expect(open.text.matches(of: /init\.mp4\?key=k"/).count == 2)
        #expect(open.text.matches(of: /count=4&key=k\n/).count == 4)
        #expect(open.text.contains("TIME-OFFSET=0.000000"))
        for playlist in [
            HLSPlaylist(Self.stream(isGrowing: true), start: 0, isOpen: false, query: ""),
            HLSPlaylist(Self.stream(), start: 0, isOpen: true, query: ""),
        ] {
            #expect(playlist.text.contains("PLAYLIST-TYPE:VOD") && playlist.text.hasSuffix("#EXT-X-ENDLIST\n"))
        }
    }

    @Test("If a part begins without a key frame, the playlist does not promise otherwise")
    func dependent() {
        var stream = Self.stream()
        stream.stretches[0].parts[1].startsWithKeyFrame = false
        #expect(!HLSPlaylist(stream, start: 0, isOpen: false, query: "").text.contains("INDEPENDENT"))
    }
}
