import Foundation
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import Testing

@testable import LinkHub

@Suite("The broker as a child process", .timeLimit(.minutes(1)))
struct BrokerSupervisorTests {
    private let security = DynamicSecurity.file(hub: .hub(password: "x"), credentials: [])

    /// Runs a supervisor, and passes the process id of each broker that listens to `body`.
    private func withSupervisor(
        _ supervisor: BrokerSupervisor,
        securityFile: @escaping @Sendable () async throws(IoTError) -> JSONValue = { () async throws(IoTError) in
            DynamicSecurity.file(hub: .hub(password: "x"), credentials: [])
        },
        _ body: (AsyncStream<Int32>) async throws -> Void
    ) async throws {
        let (stream, feed) = AsyncStream.makeStream(of: Int32.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await supervisor.run(
                    securityFile: securityFile, onListening: { feed.yield(supervisor.processIdentifier ?? 0) })
            }
            do { try await body(stream) } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test("It listens soon, ends with its supervisor, and leaves no socket")
    func startAndStop() async throws {
        let directory = TemporaryDirectory()
        let supervisor = try BrokerSupervisor(dataDirectory: directory.path, logger: quietLogger)
        var process: Int32 = 0
        try await withSupervisor(supervisor) { listening in
            process = try #require(await listening.first())
            #expect(FileManager.default.fileExists(atPath: "/proc/\(process)"))
            #expect(LoopbackProbe.canConnect(to: supervisor.hubEndpoint))
            #expect(!LoopbackProbe.canConnect(to: supervisor.endpoint), "not before the hub is ready")
            supervisor.openToPrincipals()
            #expect(LoopbackProbe.canConnect(to: supervisor.endpoint))
        }
        #expect(!FileManager.default.fileExists(atPath: "/proc/\(process)"))
        #expect(!LoopbackProbe.canConnect(to: supervisor.endpoint))
    }

    @Test("A killed broker is started again")
    func restart() async throws {
        let directory = TemporaryDirectory()
        let kept = try BrokerSupervisor(dataDirectory: directory.path, logger: quietLogger)
        try await withSupervisor(kept) { listening in
            let first = try #require(await listening.first())
            kill(first, SIGKILL)
            let second = try #require(await listening.first())
            #expect(first != second)
            #expect(kept.starts == 2)
        }
    }

    @Test("A broker that ends while the hub cannot read its credentials is started later; the first start must succeed")
    func noCredentials() async throws {
        let directory = TemporaryDirectory()
        let supervisor = try BrokerSupervisor(dataDirectory: directory.path, logger: quietLogger)
        let security = security
        let failures = NIOLockedValueBox<[ErrorCode?]>([])
        try await withSupervisor(
            supervisor,
            securityFile: { () async throws(IoTError) in
                let calls = failures.withLockedValue { failures in
                    failures.append(supervisor.failure?.code)
                    return failures.count
                }
                guard calls == 1 || calls == 4 else { throw IoTError(.storeFailed, "sabotage") }
                return security
            }
        ) { listening in
            let first = try #require(await listening.first())
            kill(first, SIGKILL)
            let second = try #require(await listening.first())
            #expect(first != second)
            #expect(failures.withLockedValue { $0 } == [nil, .brokerFailed, .storeFailed, .storeFailed])
            #expect(supervisor.failure == nil)
        }
        let error = await #expect(throws: IoTError.self) {
            try await withSupervisor(
                BrokerSupervisor(dataDirectory: directory.path, logger: quietLogger),
                securityFile: { () async throws(IoTError) in throw IoTError(.storeFailed, "sabotage") }
            ) { listening in #expect(await listening.first() == nil) }
        }
        #expect(error?.code == .storeFailed)
    }

    @Test("The orphan of a killed daemon is killed, but an unrelated broker is not")
    func orphan() async throws {
        let directory = TemporaryDirectory()
        let supervisor = try BrokerSupervisor(dataDirectory: directory.path, logger: quietLogger)
        // A first run writes the files; then a broker without a supervisor is the orphan.
        try await withSupervisor(supervisor) { _ = await $0.first() }
        let locator = try BrokerLocator(configured: nil)
        let settings = directory.path + "/broker/mosquitto.conf"
        let orphan = try ChildProcess.start(
            locator.program, arguments: ["-c", settings], logFile: directory.path + "/orphan.log")
        let other = TemporaryDirectory()
        let strangerSettings = other.path + "/mosquitto.conf"
        try "user \(NSUserName())\nlistener 0 \(other.path)/s\n".write(
            toFile: strangerSettings, atomically: true, encoding: .utf8)
        let stranger = try ChildProcess.start(
            locator.program, arguments: ["-c", strangerSettings], logFile: other.path + "/log")
        async let orphanEnding = orphan.waitForExit()
        async let strangerEnding = stranger.waitForExit()
        let next = try BrokerSupervisor(dataDirectory: directory.path, logger: quietLogger)
        try await withSupervisor(next) { listening in
            let process = try #require(await listening.first())
            #expect(process != orphan.identifier)
            #expect(!stranger.hasEnded)
        }
        // A signal to a process that has ended has no effect.
        orphan.send(SIGTERM)
        stranger.send(SIGTERM)
        let endings = await [orphanEnding, strangerEnding]
        #expect(endings == ["signal 9", "exit status 0"])
        #expect(BrokerOrphans.find(settingsFile: settings).isEmpty)
    }

    @Test("A missing program names the package to install")
    func missing() throws {
        let error = #expect(throws: IoTError.self) {
            _ = try BrokerSupervisor(
                dataDirectory: TemporaryDirectory().path, program: "/nowhere/mosquitto", logger: quietLogger)
        }
        #expect(error?.code == .brokerMissing)
        #expect(error?.remedy.contains("apt-get install mosquitto") == true)
    }

    @Test("A broker that cannot start fails with the end of its log")
    func cannotStart() async throws {
        let directory = TemporaryDirectory()
        let supervisor = try BrokerSupervisor(dataDirectory: directory.path, logger: quietLogger)
        // A directory, which cannot be removed, is where the socket should be.
        let socket = directory.path + "/broker/hub.sock"
        try FileManager.default.createDirectory(atPath: socket, withIntermediateDirectories: true)
        let security = security
        let error = await #expect(throws: IoTError.self) {
            try await supervisor.run(
                securityFile: { () async throws(IoTError) in security }, onListening: {})
        }
        #expect(error?.code == .brokerFailed)
        #expect(error?.message.contains("Error") == true)
    }

    @Test("Only the child itself is accepted as the broker, not another process that listens at its socket")
    func notTheChild() async throws {
        let directory = TemporaryDirectory()
        let program = directory.path + "/mosquitto"
        let broker = try BrokerLocator(configured: nil).program
        try "#!/bin/sh\n\(broker) \"$@\" &\nwait\n".write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        let supervisor = try BrokerSupervisor(
            dataDirectory: directory.path, program: program, logger: quietLogger)
        let security = security
        let error = await #expect(throws: IoTError.self) {
            try await supervisor.run(
                securityFile: { () async throws(IoTError) in security },
                onListening: { Issue.record("another process was accepted as the broker") })
        }
        #expect(error?.code == .brokerFailed && error?.message.hasSuffix("in the broker's place") == true)
        #expect(await BrokerOrphans.reclaim(settingsFile: directory.path + "/broker/mosquitto.conf") == 1)
    }

    @Test("A data directory with a long path gets a short private directory for its sockets")
    func longPath() async throws {
        let directory = TemporaryDirectory(nameLength: 120)
        let supervisor = try BrokerSupervisor(dataDirectory: directory.path, logger: quietLogger)
        guard case .unixSocket(let path) = supervisor.endpoint else { return }
        #expect(path.utf8.count <= 107)
        #expect(!path.hasPrefix(directory.path))
        let parent = (path as NSString).deletingLastPathComponent
        let mode = try FileManager.default.attributesOfItem(atPath: parent)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o700)
        try await withSupervisor(supervisor) { listening in #expect(await listening.first() != nil) }
        try FileManager.default.removeItem(atPath: parent)
    }

    @Test("The log is emptied when it has grown past its bound")
    func boundedLog() throws {
        let directory = TemporaryDirectory()
        let files = try BrokerDirectory(dataDirectory: directory.path)
        try String(repeating: "x", count: 5_000).write(toFile: files.logFile, atomically: true, encoding: .utf8)
        files.boundLog(to: 5_000)
        #expect(FileManager.default.contents(atPath: files.logFile)?.count == 5_000)
        files.boundLog(to: 4_999)
        #expect(FileManager.default.contents(atPath: files.logFile)?.isEmpty == true)
    }

    @Test("The delay grows from 50 ms to 5 s, and is zero after a long run")
    func backOff() {
        var backOff = RestartBackOff()
        #expect(backOff.delay(afterRunning: .seconds(1)) == .milliseconds(50))
        #expect(backOff.delay(afterRunning: .seconds(1)) == .milliseconds(100))
        for _ in 0..<20 { _ = backOff.delay(afterRunning: .zero) }
        #expect(backOff.delay(afterRunning: .zero) == .seconds(5))
        #expect(backOff.delay(afterRunning: .seconds(10)) == .zero)
        #expect(backOff.delay(afterRunning: .zero) == .milliseconds(50))
    }
}

extension AsyncStream {
    /// The next element; more elements can be read later.
    fileprivate func first() async -> Element? {
        for await element in self { return element }
        return nil
    }
}
