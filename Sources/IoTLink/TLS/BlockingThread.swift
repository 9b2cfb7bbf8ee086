import CMosquitto
import Glibc
import IoTCore

/// A thread for a blocking call that writes to sockets. It blocks every signal, because a server that closes the
/// connection would otherwise kill the process with SIGPIPE.
enum BlockingThread {
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    static func start(
        _ name: String, _ run: @escaping @Sendable () -> Void, onFailure: (IoTError) -> Void
    ) {
        let argument = Unmanaged.passRetained(Body(name: name, run: run))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                cmosquitto_name_thread(body.name)
                body.run()
                return nil
            }, argument.toOpaque())
        guard result != 0 else {
            pthread_detach(thread)
            return
        }
        argument.release()
        onFailure(IoTError(.internalFailure, "cannot start a thread: \(String(cString: strerror(result)))"))
    }
}
