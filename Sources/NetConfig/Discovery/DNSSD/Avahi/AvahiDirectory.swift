import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Announces and finds services through the system's Avahi daemon. Its calls wait for D-Bus, so they run on their own
/// thread. Reports on its event loop.
final class AvahiDirectory: ServiceDirectory {
    private let thread: AvahiThread
    private let reporter: Reporter

    /// `nil` without D-Bus or libavahi-client: then there is no daemon to contact. Notices a daemon that starts later.
    init?(eventLoop: any EventLoop, report: @escaping (DirectoryReport) -> Void) {
        guard Self.hasBus, let library = AvahiLibrary.shared, let poll = library.newPoll() else { return nil }
        let reporter = Reporter(report)
        self.reporter = reporter
        let bound = NIOLoopBound(reporter, eventLoop: eventLoop)
        thread = AvahiThread(library: library, poll: poll) { event in
            eventLoop.execute { bound.value.report?(event) }
        }
        thread.start()
    }

    func apply(_ wanted: WantedServices) { thread.give(.wanted(wanted)) }

    func close() {
        reporter.report = nil
        thread.give(.stop)
    }

    /// Checked before any library is loaded.
    private static var hasBus: Bool {
        getenv("DBUS_SYSTEM_BUS_ADDRESS") != nil || access("/run/dbus/system_bus_socket", R_OK | W_OK) == 0
            || access("/var/run/dbus/system_bus_socket", R_OK | W_OK) == 0
    }

    /// Confined to the event loop.
    private final class Reporter {
        /// `nil` after the directory was closed, because its thread may end later.
        var report: ((DirectoryReport) -> Void)?

        init(_ report: @escaping (DirectoryReport) -> Void) { self.report = report }
    }
}

/// The thread on which all of Avahi's objects live.
private final class AvahiThread: Sendable {
    enum Order {
        case wanted(WantedServices)
        case stop
    }

    /// `@unchecked` because of the pointer: only its thread uses it, except for `wakeUp`, which other threads may call.
    private struct Orders: @unchecked Sendable {
        /// `nil` after it was taken. A newer value replaces an older one.
        var wanted: WantedServices?
        var isStopped = false
        /// `nil` after the thread's end.
        var poll: OpaquePointer?
    }

    private let library: AvahiLibrary
    private let report: @Sendable (DirectoryReport) -> Void
    private let orders: NIOLockedValueBox<Orders>
    private let pool = NIOThreadPool(numberOfThreads: 1)

    /// The pause between attempts to reach D-Bus.
    private static let retryMilliseconds: CInt = 2_000

    init(library: AvahiLibrary, poll: OpaquePointer, report: @escaping @Sendable (DirectoryReport) -> Void) {
        self.library = library
        self.report = report
        orders = NIOLockedValueBox(Orders(poll: poll))
    }

    func start() {
        pool.start()
        pool.submit { _ in self.run() }
    }

    func give(_ order: Order) {
        orders.withLockedValue { orders in
            switch order {
            case .wanted(let wanted): orders.wanted = wanted
            case .stop: orders.isStopped = true
            }
            // Writes to a pipe, which the lock keeps open.
            if let poll = orders.poll { library.wakeUp(poll) }
        }
    }

    private func run() {
        guard let poll = orders.withLockedValue({ $0.poll }) else { return }
        let session = AvahiSession(library: library, poll: poll, report: report)
        while true {
            let (wanted, isStopped) = orders.withLockedValue { orders in
                defer { orders.wanted = nil }
                return (orders.wanted, orders.isStopped)
            }
            if isStopped { break }
            if let wanted { session.wanted = wanted }
            session.update()
            if library.iterate(poll, session.isOpen ? -1 : Self.retryMilliseconds) != 0 { break }
        }
        session.close()
        orders.withLockedValue { $0.poll = nil }
        library.freePoll(poll)
        pool.shutdownGracefully { _ in }
    }
}
