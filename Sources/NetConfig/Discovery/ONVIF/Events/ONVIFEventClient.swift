public import IoTCore
package import NIOCore

/// Gets the events of one ONVIF camera until it is cancelled.
public struct ONVIFEventClient: Sendable {
    /// What the client says.
    public enum Report: Sendable {
        /// The camera has a subscription for us.
        case connected
        /// The camera has answered: nothing was missed until now.
        case answered([ONVIFNotification])
        /// It tries again later.
        case failed(IoTError)
    }

    /// The least time between two requests.
    private static let leastDistance = Duration.milliseconds(200)

    private let loops: any EventLoopGroup
    private let service: ONVIFService

    package init(_ service: ONVIFService, loops: any EventLoopGroup) {
        self.service = service
        self.loops = loops
    }

    /// Returns when its task is cancelled.
    public func run(_ report: (Report) async -> Void) async {
        var pause = Duration.seconds(1)
        while !Task.isCancelled {
            do {
                try await subscribe { next in
                    pause = .seconds(1)
                    await report(next)
                }
            } catch is CancellationError {
                return
            } catch {
                let error = error as? IoTError ?? IoTError(.internalFailure, underlying: error)
                await report(.failed(error))
                // Cameras lock accounts after some wrong passwords.
                if error.code == .sourceRefused { pause = max(pause, .seconds(120)) }
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(120))
        }
    }

    private func subscribe(_ report: (Report) async -> Void) async throws {
        // A pull waits for five seconds at the camera.
        let exchange = HTTPExchange(loops: loops, timeout: .seconds(15), trust: service.trust)
        var session = ONVIFEventSession(service.device, service.login, random: SystemRandomNumberGenerator())
        var request = session.start()
        var isConnected = false
        do {
            while true {
                let asked = ContinuousClock.now
                let answer = try await exchange.post(request)
                let (next, notifications, isPull) = try session.receive(answer, at: WallClock.seconds())
                if isPull {
                    if !isConnected { await report(.connected) }
                    isConnected = true
                    await report(.answered(notifications))
                }
                request = next
                try Task.checkCancellation()
                // A camera that answers at once, instead of when it has noticed something.
                try await Task.sleep(until: asked + Self.leastDistance, clock: .continuous)
            }
        } catch is CancellationError {
            if let last = session.end(at: WallClock.seconds()) {
                // Not in the cancelled task; it ends by itself after its time-out.
                let ending = Task { _ = try? await exchange.post(last) }
                await ending.value
            }
            throw CancellationError()
        }
    }
}
