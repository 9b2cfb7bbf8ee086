import IoTCore
import MediaPlayer
import Testing

@Suite struct PlayerCapabilitiesTests {
    /// The function table of the IoT video SDK guide: monitor, playback, live.
    private static let table: [(PlayerCapabilities.Function, String)] = [
        (.video, "✓✓✓"), (.audio, "✓✓✓"), (.pause, "x✓x"), (.seek, "x✓x"), (.duration, "x✓x"), (.position, "x✓x"),
        (.stateChanges, "✓✓✓"), (.mute, "✓✓✓"), (.scaling, "✓✓✓"), (.snapshot, "✓✓✓"), (.recording, "✓✓✓"),
        (.talk, "✓✓✓"), (.definition, "✓xx"), (.twoWayVideo, "xx✓"),
    ]

    @Test("Each kind of player offers the functions in the guide's table, and a transmission channel none of them")
    func table() {
        #expect(Set(Self.table.map(\.0)) == Set(PlayerCapabilities.Function.allCases))
        for (function, row) in Self.table {
            let offered = [ChannelKind.monitor, .playback, .live].map { PlayerCapabilities(of: $0).offers(function) }
            #expect(offered.map { $0 ? "✓" : "x" }.joined() == row, "\(function)")
            #expect(!PlayerCapabilities(of: .transmission).offers(function))
        }
    }

    @Test("A function that is not offered is refused with 21040, its name, and the kinds that offer it")
    func refusal() {
        #expect {
            try PlayerCapabilities(of: .monitor).require(.seek)
        } throws: { error in
            guard let error = error as? IoTError else { return false }
            return error.code.rawValue == 21040 && error.message.contains("monitor")
                && error.message.contains("seeking")
                && error.remedy.contains("playback")
        }
        #expect(throws: Never.self) { try PlayerCapabilities(of: .playback).require(.seek) }
    }
}
