import Foundation
import IoTCore

/// The terminal while it shows a question. Echo is off for a secret. The settings are restored before a signal ends or
/// stops the process.
///
/// glibc's getpass(3) is not used because it disables the signal keys, so that Ctrl-C does nothing at its prompt.
struct PromptTerminal {
    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// The data for the signal handlers.
    private struct Question {
        let saved: termios
        let asking: termios
        /// The terminal itself: standard output and error may be files.
        let output: Int32
        /// The question, and one line feed after it.
        let text: UnsafeMutableBufferPointer<UInt8>
    }

    /// Written only while none of our handlers is installed. There is only one question at a time.
    nonisolated(unsafe) private static let current: UnsafeMutablePointer<Question?> = {
        let pointer = UnsafeMutablePointer<Question?>.allocate(capacity: 1)
        pointer.initialize(to: nil)
        return pointer
    }()

    /// The previous signal handlers.
    private let handlers: [(Int32, sighandler_t?)]

    /// Shows the question.
    ///
    /// - Throws: `.fileFailed` if standard input is not a terminal.
    init(question: String, echoes: Bool) throws {
        var saved = termios()
        guard tcgetattr(STDIN_FILENO, &saved) == 0 else {
            throw IoTError(.fileFailed, "standard input is not a terminal: \(String(cString: strerror(errno)))")
        }
        var asking = saved
        // The newline is echoed, so that later output begins on a new line.
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

    // MARK: Called by signal handlers: only functions that signal-safety(7) lists

    private static func show() {
        guard let question = current.pointee else { return }
        // Input from before the question is dropped, as in getpass(3): it was not meant as the answer.
        set(question.asking, TCSAFLUSH)
        _ = write(question.output, question.text.baseAddress, question.text.count - 1)
    }

    private static func end(_ number: Int32) {
        if let question = current.pointee {
            set(question.saved, TCSANOW)
            _ = write(question.output, question.text.baseAddress?.advanced(by: question.text.count - 1), 1)
        }
        // The status with which a shell reports the signal. Nothing has been started that needs an orderly end.
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
