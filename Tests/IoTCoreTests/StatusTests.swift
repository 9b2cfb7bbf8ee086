import IoTCore
import Testing

@Suite struct StatusTests {
    @Test("Every status has its published value")
    func values() {
        #expect(
            LinkStatus.allCases.map { "\($0.name) \($0.rawValue)" } == [
                "unregistering -1", "registering 0", "online 1", "offline 2", "tokenFailed 3", "kickOff 6",
            ])
        #expect(
            PlayerStatus.allCases.map { "\($0.name) \($0.rawValue)" } == [
                "stopping -1", "stopped 0", "preparing 1", "ready 2", "loading 3", "playing 4", "paused 5",
                "fastForward 6", "seeking 7",
            ])
        #expect(ConnectionStatus.allCases.map(\.rawValue) == [-1, 0, 1, 2])
        #expect(ConnectionSubstate.allCases.map(\.rawValue) == [1, 2, 3])
        #expect(
            ChannelKind.allCases.map { "\($0.name) \($0.rawValue)" } == [
                "live 0", "monitor 1", "playback 2", "transmission 3",
            ])
    }
}
