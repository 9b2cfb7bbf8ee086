import Foundation
import Glibc
public import IoTCore
public import IoTLink
public import Logging
import NIOCore
import Synchronization

/// Runs the hub's own broker as a child: starts it, restarts it when it dies, ends it with the hub, and first
/// kills the orphans of a daemon that was itself killed.
public final class BrokerSupervisor: Sendable {
    /// How the endpoint is chosen.
    public enum EndpointChoice: Sendable, Hashable {
        case unixSocket
        /// A port of 127.0.0.1; 0 takes a free one, kept while this supervisor lives.
        case loopback(port: Int = 0)
    }

    private struct State {
        var child: ChildProcess?
        var starts = 0
        /// Until the child's loop runs it is reading its files, and a SIGHUP would end it.
        var takesSignals = false
        /// Why there is no broker now.
        var failure: IoTError?
    }

    /// Where principals connect.
    public let endpoint: BrokerEndpoint
    /// Where the principals of this daemon connect, whatever `endpoint` is: a socket in a private directory, in which
    /// nobody else can listen. A port that the broker left for a moment may be another program's.
    public let localEndpoint: BrokerEndpoint
    /// Where the hub's own client connects: a socket, so that nobody who fills a port shuts the hub out.
    public let hubEndpoint: BrokerEndpoint

    /// The port of the TLS listener; `nil` without one.
    private let tlsPort: Int?
    /// Its certificate.
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

    /// Lets principals in, once the hub hears them: one that registered a moment before would not be heard, and would
    /// wait for its answer until it gives up. The socket gets its public name only now; a port is open from the start.
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
    ///   - securityFile: Called before every start: the plugin's file, made from the store, which is the truth.
    ///   - onListening: Called each time a broker accepts connections.
    /// - Throws: `brokerFailed` if the first broker does not come up, `addressInUse` if that is because of a port, what
    ///   `securityFile` throws the first time. Later such failures are attempts that failed: `failure` tells of them.
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
            // Without the broker's own words, which may differ each time.
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

    /// Why a broker ended: by what it wrote last, and who has the port that it wanted.
    private func reason(_ ending: String, logLength: Int, isListening: Bool) -> IoTError {
        let tail = directory.logTail(since: logLength)
        // strerror(EADDRINUSE), which mosquitto prints without the port.
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

    /// In the order in which the broker opens them.
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

    /// Empties the log past its bound; call it now and then.
    public func boundLog() {
        directory.boundLog(to: limits.logBytes)
    }

    /// Replaces the TLS listener's certificate when it is time; call it now and then. The broker reads it without
    /// ending a session. One that starts could read the new key with the old certificate: then the next call does it.
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

    /// Starts the broker anew when it holds too much memory. What fills it is not known: mosquitto bounds neither what a
    /// client subscribes to nor the bytes of QoS 0.
    public func boundMemory() {
        guard let child = state.withLock({ $0.takesSignals ? $0.child : nil }),
            let bytes = ProcessMemory.residentBytes(of: child.identifier), bytes > limits.restartBytes
        else { return }
        logger.warning(
            "the broker holds too much memory and is started anew: some client floods it, or does not read",
            metadata: ["broker.bytes": "\(bytes)"])
        child.terminate()
    }

    /// Polls, since the broker has no other way to say that it is ready; it takes a few milliseconds. What counts is the
    /// socket that it opens last, and that it is the child which listens there: a broker that does not get one of its
    /// ports ends, so that all of them are its own.
    ///
    /// - Returns: The process that listens; `nil` when none came to it.
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
        // Each listener could be filled, and its own files and the hub's are some more.
        let listeners = 1 + (port == nil ? 0 : 1) + (tls == nil ? 0 : 1)
        var limits = limits
        let files = OpenFiles.raise(to: limits.connections * listeners + OpenFiles.ofProgram)
        limits.connections = max(1, min(limits.connections, (files - OpenFiles.ofProgram) / listeners))
        return BrokerSettings(
            socketPath: socketPath, port: port, tls: tls, plugin: locator.plugin,
            securityFile: directory.securityFile, account: account, limits: limits)
    }
}
