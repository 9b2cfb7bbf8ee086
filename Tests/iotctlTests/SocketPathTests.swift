import Testing

@testable import iotctl

@Suite struct SocketPathTests {
    private let environment = ["XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/u"]
    private let own = "/run/user/7/iotvideod.sock"

    private func find(
        _ option: String? = nil, _ environment: [String: String] = [:], isRoot: Bool = false, there: Set<String> = []
    ) -> SocketPath {
        SocketPath.find(option: option, environment: environment, isRoot: isRoot) { there.contains($0) }
    }

    @Test("The option has priority over the variable, the variable over the default")
    func precedence() {
        #expect(find("/o", ["IOTCTL_SOCKET": "/v"]) == SocketPath("/o"))
        #expect(find(nil, ["IOTCTL_SOCKET": "/v"], isRoot: true) == SocketPath("/v"))
        #expect(find(nil, environment, isRoot: true, there: [own]) == SocketPath(SocketPath.system))
    }

    @Test("A user's own daemon has priority; without one, the system's is tried")
    func userThenSystem() {
        #expect(find(nil, environment, there: [own]) == SocketPath(own))
        #expect(find(nil, environment, there: [own, SocketPath.system]).path == own)
        // Also if the user may not enter its directory: the connection error then names the group that may.
        let system = find(nil, environment)
        #expect(system.path == SocketPath.system && system.tried == [own, SocketPath.system])
        #expect(find(nil, ["HOME": "/home/u"]).tried.first == "/home/u/.local/state/iotvideod/iotvideod.sock")
    }
}
