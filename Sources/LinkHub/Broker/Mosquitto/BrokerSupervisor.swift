import Foundation
import Glibc
public import IoTCore
public import IoTLink
public import Logging
import NIOCore
import Synchronization

/// Runs the hub's own broker as a child process: starts it, restarts it when it dies, and ends it with the hub. First
/// kills the orphaned brokers of a daemon that was itself killed.
public final class BrokerSupervisor: Sendable {
    /// How the endpoint is chosen.
    public enum EndpointChoice: Sendable, Hashable {
        case unixSocket
        /// A port of 127.0.0.1; 0 takes a free one and keeps it while this supervisor lives.
        case loopback(port: Int = 0)
    }

    private struct State {
        var child: ChildProcess?
        var starts = 0
        /// False while the child reads its files, before its main loop: a SIGHUP would then end it.
        var takesSignals = false
        /// Why no broker runs now.
        var failure: IoTError?
    }

    /// Where principals connect.
    public let endpoint: BrokerEndpoint
    /// Where the principals of this daemon connect, whatever `endpoint` is: a socket in a private directory, in which
    /// no other account can listen. Another program may take a port that the broker released for a moment.
    public let localEndpoint: BrokerEndpoint
    /// Where the hub's own client connects: a socket, so that a client that fills a port does not block the hub.
    public let hubEndpoint: BrokerEndpoint

    /// The port of the TLS listener; `nil` without one.
    private let tlsPort: Int?
    /// The TLS listener's certificate.
    let certificate: ListenerCertificate?

    private let tls: HubTLS?
    private let locator: BrokerLocator
    private let directory: BrokerDirectory
    private let limits: BrokerLimits
    private let socketPath: String
    private let publicPath: String
    private let logger: Logger
    private let state = Mutex(State())

    /// - Throws: `brokerMissing`, or `fileFailed` for a data directory that cannot be used.
    public init(
        dataDirectory: String, endpoint choice: EndpointChoice = .unixSocket, program: String? = nil,
        tls: HubTLS? = nil, limits: BrokerLimits = BrokerLimits(), logger: Logger
    ) throws(IoTError) {
        self.tls = tls
        locator = try BrokerLocator(configured: program)
        directory = try BrokerDirectory(dataDirectory: dataDirectory)
        self.limits = limits
        self.logger = logger
        certificate = try tls.map { [directory] tls throws(IoTError) in
            try ListenerCertificate(tls, dataDirectory: dataDirectory, broker: directory)
        }
        tlsPort = try tls.map { tls throws(IoTError) in
            guard let port = tls.port > 0 ? tls.port : LoopbackProbe.freePort() else {
                throw IoTError(.brokerFailed, "no port is free for the TLS listener")
            }
            return port
        }
        let sockets = try directory.socketDirectory()
        socketPath = sockets + "/hub.sock"
        hubEndpoint = .unixSocket(socketPath)
        publicPath = sockets + "/broker.sock"
        localEndpoint = .unixSocket(publicPath)
        switch choice {
        case .unixSocket: endpoint = localEndpoint
        case .loopback(let wanted):
            guard let port = wanted > 0 ? wanted : LoopbackProbe.freePort() else {
                throw IoTError(.brokerFailed, "no port of 127.0.0.1 is free", remedy: "let `hub.listen` be unix")
            }
            endpoint = .loopback(port: port)
        }
    }

    /// Admits principals, once the hub receives messages. A principal that registered earlier would get no reply and
    /// would wait until its time-out. The socket gets its public name only now; a port is open from the start.
    public func openToPrincipals() {
        state.withLock { $0.takesSignals = true }
        unlink(publicPath)
        if link(socketPath, publicPath) != 0 {
            let reason = String(cString: strerror(errno))
            logger.error("the broker's socket could not be opened", metadata: ["error": "\(reason)"])
        }
    }

    private func closeToPrincipals() {
        for path in [publicPath, socketPath] { unlink(path) }
    }

    /// Where principals on other machines connect.
    public var tlsEndpoint: LinkEndpoint? {
        guard let tls, let tlsPort, let certificate else { return nil }
        let listening = tls.listensEverywhere ? ProcessInfo.processInfo.hostName : tls.host
        let host = tls.names.first { !$0.hasPrefix("*") } ?? listening
        return .tls(host: host, port: tlsPort, certificateAuthorityFile: certificate.authorityFile)
    }

    /// The child's process id while one runs.
    public var processIdentifier: Int32? {
        state.withLock { $0.child?.identifier }
    }

    /// How often a broker was started.
    public var starts: Int {
        state.withLock { $0.starts }
    }

    /// Why the last broker ended, until the next one listens.
    public var failure: IoTError? {
        state.withLock { $0.failure }
    }

    /// Runs until it is cancelled.
    ///
    /// - Parameters:
    ///   - securityFile: Called before every start. Returns the plugin's file, made from the store.
    ///   - onListening: Called each time a broker accepts connections.
    /// - Throws: `brokerFailed` if the first broker does not start, `addressInUse` if a port is the reason, and what
    ///   `securityFile` throws the first time. Later failures are retried and reported by `failure`.
    public func run(
        securityFile: @Sendable () async throws(IoTError) -> JSONValue, onListening: @Sendable () -> Void
    ) async throws(IoTError) {
        let orphans = await BrokerOrphans.reclaim(settingsFile: directory.settingsFile)
        if orphans > 0 { logger.notice("killed an orphaned broker", metadata: ["broker.orphans": "\(orphans)"]) }
        var backOff = RestartBackOff()
        var failures = FailureLog()
        var isFirst = true
        while !Task.isCancelled {
            let began = ContinuousClock.now
            let error: IoTError
            do throws(IoTError) {
                error = try await runOnce(securityFile: securityFile, onListening: onListening)
            } catch let failure {
                guard !isFirst else { throw failure }
                error = failure
            }
            isFirst = false
            guard !Task.isCancelled else { break }
            state.withLock { $0.failure = error }
            let delay = backOff.delay(afterRunning: ContinuousClock.now - began)
            if backOff.failures == 0 { _ = failures.recovered() }
            // Without the broker's own text, which may differ each time.
            let kind = "\(error.code.rawValue) \(error.message.prefix { $0 != ":" })"
            if let line = failures.note(kind, at: .now()) {
                logger.warning(
                    "the broker ended and is started again",
                    metadata: [
                        "error": "\(error)", "remedy": "\(error.remedy)", "broker.delay": "\(delay)",
                        "broker.attempts": "\(line.attempts)",
                    ])
            }
            try? await Task.sleep(for: delay)
        }
    }

    /// Why a broker ended: from the end of its log, or because another process holds its port.
    private func reason(_ ending: String, logLength: Int, isListening: Bool) -> IoTError {
        let tail = directory.logTail(since: logLength)
        // The text of EADDRINUSE, which mosquitto logs without the port.
        if !isListening, tail.contains(String(cString: strerror(EADDRINUSE))) {
            let ports = tcpPorts
            for (key, host, port) in ports {
                guard let holder = PortHolder.find(.tcp, host: host, port: port) else { continue }
                return ListenFailure.inUse(key, place: "TCP port \(port) of \(host)", holder: holder)
            }
            if let (key, host, port) = ports.first {
                return ListenFailure.inUse(key, place: "TCP port \(port) of \(host)", holder: nil)
            }
        }
        let what = isListening ? "ended" : "did not start"
        return IoTError(.brokerFailed, "the broker \(what) (\(ending))" + (tail.isEmpty ? "" : ": \(tail)"))
    }

    /// The TCP ports, in the order in which the broker opens them.
    private var tcpPorts: [(key: String, host: String, port: Int)] {
        var ports: [(String, String, Int)] = []
        if let tls, let tlsPort { ports.append(("hub.tls.listen", tls.host, tlsPort)) }
        if case .loopback(let port) = endpoint { ports.append(("hub.listen", "127.0.0.1", port)) }
        return ports
    }

    /// - Returns: Why the broker ended.
    /// - Throws: Why it did not start.
    private func runOnce(
        securityFile: @Sendable () async throws(IoTError) -> JSONValue, onListening: @Sendable () -> Void
    ) async throws(IoTError) -> IoTError {
        let security = try await securityFile()
        try PrivateFile.write(security.jsonText, to: directory.securityFile)
        try PrivateFile.write(settings.text, to: directory.settingsFile)
        directory.boundLog(to: limits.logBytes)
        closeToPrincipals()
        let logLength = directory.logLength
        let child = try ChildProcess.start(
            locator.program, arguments: ["-c", directory.settingsFile], logFile: directory.logFile)
        state.withLock { state in
            state.child = child
            state.starts += 1
            state.takesSignals = false
        }
        defer {
            state.withLock { $0.child = nil }
            closeToPrincipals()
        }
        let (ending, listener) = await withTaskCancellationHandler {
            async let exit = child.waitForExit()
            let listener = await waitUntilListening(child)
            if listener == child.identifier {
                logger.debug("the broker listens", metadata: ["broker.pid": "\(child.identifier)"])
                state.withLock { $0.failure = nil }
                onListening()
            } else {
                child.terminate()
            }
            return (await exit, listener)
        } onCancel: {
            child.terminate()
        }
        let isListening = listener == child.identifier
        var error = reason(ending, logLength: logLength, isListening: isListening)
        if let listener, !isListening { error = Self.stranger(listener, at: socketPath) }
        if !isListening, !Task.isCancelled { throw error }
        return error
    }

    /// Empties the log if it is past its bound. Call this periodically.
    public func boundLog() {
        directory.boundLog(to: limits.logBytes)
    }

    /// Replaces the TLS listener's certificate when it is due. Call this periodically. The broker reloads it without
    /// ending a session. A broker that is starting could read the new key with the old certificate, so then the next
    /// call replaces it.
    public func refreshCertificate() {
        guard let certificate, state.withLock({ $0.takesSignals && $0.child != nil }) else { return }
        do throws(IoTError) {
            guard try certificate.refresh() else { return }
            state.withLock { state in
                if state.takesSignals { state.child?.send(SIGHUP) }
            }
            logger.notice("the certificate of the TLS listener was replaced")
        } catch {
            logger.error("the certificate of the TLS listener was not replaced", metadata: ["error": "\(error)"])
        }
    }

    /// Restarts the broker if it uses too much memory. The cause is not known, because mosquitto bounds neither a
    /// client's subscriptions nor the bytes of QoS 0.
    public func boundMemory() {
        guard let child = state.withLock({ $0.takesSignals ? $0.child : nil }),
            let bytes = ProcessMemory.residentBytes(of: child.identifier), bytes > limits.restartBytes
        else { return }
        logger.warning(
            "the broker uses too much memory and is restarted: a client floods it, or does not read",
            metadata: ["broker.bytes": "\(bytes)"])
        child.terminate()
    }

    /// Polls, because the broker does not report that it is ready; this takes a few milliseconds. Checks that the child
    /// listens at the socket, which the broker opens last. A broker that does not get one of its ports ends, so all of
    /// them are then its own.
    ///
    /// - Returns: The process that listens; `nil` if none does.
    private func waitUntilListening(_ child: ChildProcess) async -> pid_t? {
        for _ in 0..<2_500 {
            if let listener = LoopbackProbe.listener(atSocket: socketPath), listener > 0 { return listener }
            if child.hasEnded || Task.isCancelled { return nil }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return nil
    }

    private static func stranger(_ process: pid_t, at socket: String) -> IoTError {
        IoTError(
            .brokerFailed,
            "\(PortHolder.name(of: process) ?? "a program"), process \(process), listens at \(socket) in the broker's place",
            remedy: "end it; a script at hub.mosquitto must `exec` the program")
    }

    private var tlsListener: BrokerSettings.TLSListener? {
        guard let tls, let tlsPort, let certificate else { return nil }
        return BrokerSettings.TLSListener(
            host: tls.host, port: tlsPort, certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
    }

    private var settings: BrokerSettings {
        let account = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"
        var port: Int?
        if case .loopback(let own) = endpoint { port = own }
        let tls = tlsListener
        // Every listener may be full, and the broker needs some more files for itself and the hub.
        let listeners = 1 + (port == nil ? 0 : 1) + (tls == nil ? 0 : 1)
        var limits = limits
        let files = OpenFiles.raise(to: limits.connections * listeners + OpenFiles.ofProgram)
        limits.connections = max(1, min(limits.connections, (files - OpenFiles.ofProgram) / listeners))
        return BrokerSettings(
            socketPath: socketPath, port: port, tls: tls, plugin: locator.plugin,
            securityFile: directory.securityFile, account: account, limits: limits)
    }
}
