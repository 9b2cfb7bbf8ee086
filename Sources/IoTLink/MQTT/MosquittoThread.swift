import CMosquitto
import Glibc
import IoTCore
import NIOCore
import Synchronization

/// The thread of one connection and its bounded queue of commands. Only this thread calls libmosquitto.
final class MosquittoThread: Sendable {
    enum Command {
        case subscribe(String)
        case publish(MQTTMessage, isJoinable: Bool)

        var size: Int {
            switch self {
            case .subscribe(let filter): filter.utf8.count
            case .publish(let message, _): message.topic.utf8.count + message.payload.count
            }
        }
    }

    private enum Phase {
        case idle, running, disconnecting, ended
    }

    private struct State {
        var phase = Phase.idle
        var commands: [Command] = []
        var bytes = 0
        /// Open while the phase is running or disconnecting.
        var wakeup: Int32 = -1
    }

    private let configuration: MQTTConfiguration
    private let onEvent: @Sendable (MQTTEvent) -> Void
    private let state = Mutex(State())

    /// mosquitto_lib_init is the only libmosquitto function that is not thread-safe, so it runs once.
    private static let library: Void = { _ = mosquitto_lib_init() }()

    init(configuration: MQTTConfiguration, onEvent: @escaping @Sendable (MQTTEvent) -> Void) {
        self.configuration = configuration
        self.onEvent = onEvent
    }

    func start() {
        let started = state.withLock { state -> Bool in
            guard state.phase == .idle else { return false }
            state.phase = .running
            state.wakeup = cmosquitto_wakeup_open()
            return true
        }
        guard started else { return }
        let argument = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<MosquittoThread>.fromOpaque(argument).takeRetainedValue().main()
                return nil
            }, argument.toOpaque())
        if result == 0 {
            pthread_detach(thread)
        } else {
            argument.release()
            end(.lost(IoTError(.linkUnavailable, "cannot start a thread: \(String(cString: strerror(result)))")))
        }
    }

    func enqueue(_ command: Command) throws(IoTError) {
        try state.withLock { state throws(IoTError) in
            guard state.phase == .idle || state.phase == .running else {
                throw IoTError(.linkUnavailable, "the connection to the broker has ended")
            }
            guard state.commands.count < configuration.waitingMessages,
                state.bytes + command.size <= configuration.waitingBytes
            else { throw IoTError(.tooManyRequests, "\(state.commands.count) messages wait for the broker") }
            state.commands.append(command)
            state.bytes += command.size
            if state.commands.count == 1, state.wakeup >= 0 { cmosquitto_wakeup_raise(state.wakeup) }
        }
    }

    func disconnect() {
        state.withLock { state in
            switch state.phase {
            case .idle: state.phase = .ended
            case .running:
                state.phase = .disconnecting
                if state.wakeup >= 0 { cmosquitto_wakeup_raise(state.wakeup) }
            case .disconnecting, .ended: break
            }
        }
    }

    private func end(_ end: MQTTEnd) {
        state.withLock { state in
            state.phase = .ended
            state.commands = []
            if state.wakeup >= 0 { close(state.wakeup) }
            state.wakeup = -1
        }
        onEvent(.ended(end))
    }

    // MARK: On the thread

    private func main() {
        // libmosquitto writes with write(2). Without this, a broker that closes the connection would kill the process
        // with SIGPIPE.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        cmosquitto_name_thread("iotlink-mqtt")
        _ = Self.library
        end(MosquittoClient(configuration: configuration, onEvent: onEvent).run(self))
    }

    var wakeup: Int32 { state.withLock { $0.wakeup } }
    var isDisconnecting: Bool { state.withLock { $0.phase == .disconnecting } }

    /// At most `count` commands, oldest first. Envelopes that follow each other are joined.
    func takeCommands(_ count: Int) -> [Command] {
        let taken = state.withLock { state in
            var joining = EnvelopeJoining()
            var used = 0
            while used < state.commands.count, joining.take(state.commands[used], atMost: count) { used += 1 }
            state.bytes -= state.commands[..<used].reduce(0) { $0 + $1.size }
            state.commands.removeFirst(used)
            return joining
        }
        return taken.commands
    }

    /// Whether what waits first may be joined with what comes next.
    var isNextJoinable: Bool {
        state.withLock { state in
            if case .publish(_, isJoinable: true) = state.commands.first { true } else { false }
        }
    }
}
