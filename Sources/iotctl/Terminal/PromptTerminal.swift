import Foundation
import IoTCore

/// The terminal while a question stands on it: without echo for a secret, and restored before a signal ends or stops
/// the process.
///
/// glibc's getpass(3) switches the keys for signals off, so that Ctrl-C does nothing at its prompt.
struct PromptTerminal {
    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// What the handlers of signals need, where they can reach it.
    private struct Question {
        let saved: termios
        let asking: termios
        /// The terminal itself: standard output and error may be files.
        let output: Int32
        /// The question, and one line feed after it.
        let text: UnsafeMutableBufferPointer<UInt8>
    }

    /// Written only while no handler of ours is installed; one question stands at a time.
    nonisolated(unsafe) private static let current: UnsafeMutablePointer<Question?> = {
        let pointer = UnsafeMutablePointer<Question?>.allocate(capacity: 1)
        pointer.initialize(to: nil)
        return pointer
    }()

    /// What the signals did before.
    private let handlers: [(Int32, sighandler_t?)]

    /// Shows the question.
    ///
    /// - Throws: `.fileFailed` where standard input is not a terminal.
    init(question: String, echoes: Bool) throws {
        var saved = termios()
        guard tcgetattr(STDIN_FILENO, &saved) == 0 else {
            throw IoTError(.fileFailed, "standard input is not a terminal: \(String(cString: strerror(errno)))")
        }
        var asking = saved
        // The line's end is shown, so that what follows begins on a line of its own.
        if !echoes { asking.c_lflag = asking.c_lflag & ~tcflag_t(ECHO) | tcflag_t(ECHONL) }
        let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: question.utf8.count + 1)
        _ = text.initialize(from: Array(question.utf8) + [0x0A])
        let terminal = open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC)
        Self.current.pointee = Question(
            saved: saved, asking: asking, output: terminal >= 0 ? terminal : dup(STDERR_FILENO), text: text)
        handlers =
            Self.ending.map { number in (number, signal(number) { Self.end($0) }) }
            + [(SIGTSTP, signal(SIGTSTP) { _ in Self.stop() })]
        Self.show()
    }

    func restore() {
        for (number, handler) in handlers { signal(number, handler) }
        guard let question = Self.current.pointee else { return }
        Self.set(question.saved, TCSANOW)
        Self.current.pointee = nil
        close(question.output)
        question.text.deallocate()
    }

    // MARK: In a handler, too: only what signal-safety(7) lists

    private static func show() {
        guard let question = current.pointee else { return }
        // What was typed before the question is dropped, as getpass(3) does: it was not meant as the answer.
        set(question.asking, TCSAFLUSH)
        _ = write(question.output, question.text.baseAddress, question.text.count - 1)
    }

    private static func end(_ number: Int32) {
        if let question = current.pointee {
            set(question.saved, TCSANOW)
            _ = write(question.output, question.text.baseAddress?.advanced(by: question.text.count - 1), 1)
        }
        // As a shell reports the signal. Nothing has been started that would have to end in order.
        _exit(128 + number)
    }

    private static func stop() {
        let reason = errno
        if let question = current.pointee { set(question.saved, TCSANOW) }
        // Returns when the shell continues the process.
        kill(getpid(), SIGSTOP)
        show()
        errno = reason
    }

    private static func set(_ settings: termios, _ when: Int32) {
        var settings = settings
        while tcsetattr(STDIN_FILENO, when, &settings) != 0, errno == EINTR {}
    }
}
