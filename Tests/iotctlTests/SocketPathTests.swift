import Testing

@testable import iotctl

@Suite struct SocketPathTests {
    private func find(
        _ option: String? = nil, _ environment: [String: String] = [:], isRoot: Bool = false, existing: Set<String> = []
    ) -> String {
        SocketPath.find(option: option, environment: environment, isRoot: isRoot) { existing.contains($0) }
    }

    @Test("The option goes before the variable, the variable before the default")
    func precedence() {
        #expect(find("/o", ["IOTCTL_SOCKET": "/v"]) == "/o")
        #expect(find(nil, ["IOTCTL_SOCKET": "/v"], isRoot: true) == "/v")
        #expect(find(isRoot: true) == "/run/iotvideod/iotvideod.sock")
    }

    @Test("A user's own daemon goes before the system's, which is found where there is no own")
    func userThenSystem() {
        let system = "/run/iotvideod/iotvideod.sock"
        let environment = ["XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/u"]
        let own = "/run/user/7/iotvideod.sock"
        #expect(find(nil, environment) == own)
        #expect(find(nil, environment, existing: [system]) == system)
        #expect(find(nil, environment, existing: [system, own]) == own)
        #expect(find(nil, ["HOME": "/home/u"]) == "/home/u/.local/state/iotvideod/iotvideod.sock")
    }
}
