import IoTCore
import Logging
import MediaChannel
import MediaCodec
import NIOCore
import NetConfig
import Synchronization

/// Looks for a provisioning QR code in the camera's own pictures, and provisions the box with it.
struct CodeWatch: Sendable {
    /// The settings for opening the camera.
    let camera: CameraSettings
    let lifetime: Duration
    let onboarding: Onboarding
    let logger: Logger

    /// - Returns: whether the camera was bound; false after `lifetime`.
    /// - Throws: 25016 if libzbar is not installed.
    func run() async throws(IoTError) -> Bool {
        let (codes, feed) = AsyncStream.makeStream(
            of: Result<[UInt8], IoTError>.self, bufferingPolicy: .bufferingNewest(1))
        let eye = CodeEye(feed)
        let watch = PictureWatch(
            camera, isDue: { eye.isDue }, onPicture: { eye.look(at: $0) },
            onFailure: { [logger] error in
                logger.warning(
                    "the camera has no pictures to search for a QR code",
                    metadata: ["error.code": "\(error.code.rawValue)"])
            })
        watch.start()
        defer { watch.stop() }
        let outcome = await withTaskGroup(of: Result<Bool, IoTError>?.self) { group in
            group.addTask {
                do throws(IoTError) {
                    return .success(try await follow(codes))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask { [lifetime] in
                try? await Task.sleep(for: lifetime)
                // A running attempt is not interrupted, because its token would be lost.
                feed.finish()
                return nil
            }
            var outcome: Result<Bool, IoTError>?
            while outcome == nil, let next = await group.next() { outcome = next }
            group.cancelAll()
            return outcome ?? .success(false)
        }
        return try outcome.get()
    }

    private func follow(_ codes: AsyncStream<Result<[UInt8], IoTError>>) async throws(IoTError) -> Bool {
        var delay = ProofDelay()
        var rejected: [UInt8]?
        for await code in codes {
            let code = try code.get()
            // A rejected code may stay in front of the camera. It is logged only once.
            guard code != rejected, delay.wait(at: .now()) == nil else { continue }
            do throws(IoTError) {
                if try await take(code) { return true }
                rejected = code
            } catch {
                if error.code == .invalidQRInput { rejected = code } else { delay.wrong(at: .now()) }
                logger.warning(
                    "a QR code was read, but provisioning with it failed",
                    metadata: ["error.code": "\(error.code.rawValue)", "error.name": "\(error.code.name)"])
            }
        }
        return false
    }

    /// - Returns: whether the camera is bound now.
    private func take(_ code: [UInt8]) async throws(IoTError) -> Bool {
        guard case .network(let payload, let format) = try ScannedCode(code) else {
            throw IoTError(.invalidQRInput, "the QR code is a device's label, not a network")
        }
        logger.notice("a QR code with a network was read", metadata: ["code.format": "\(format.rawValue)"])
        let credentials = try WiFiCredentials(ssid: payload.ssid, password: payload.password)
        switch await onboarding.apply(credentials) {
        case .connected: break
        case .wrongPassword: throw IoTError(.wifiPasswordWrong)
        case .networkNotFound: throw IoTError(.wifiNetworkNotFound)
        case .failed(let reason): throw IoTError(.wifiFailed, reason)
        }
        guard let token = payload.token else {
            logger.notice("the network was joined; the QR code has no token, so the camera waits for another one")
            return false
        }
        _ = try await onboarding.bind(hub: payload.hub ?? "", token: token)
        logger.notice("the device is bound")
        return true
    }
}

/// `@unchecked Sendable` because only the source's thread uses it.
private final class CodeEye: @unchecked Sendable {
    private let scanner = CodeScanner(picturesPerSecond: 1)
    private let feed: AsyncStream<Result<[UInt8], IoTError>>.Continuation

    init(_ feed: AsyncStream<Result<[UInt8], IoTError>>.Continuation) {
        self.feed = feed
    }

    var isDue: Bool { scanner.isDue(at: .now) }

    func look(at picture: VideoPicture) {
        do throws(IoTError) {
            let found = try picture.withLuma { plane, stride throws(IoTError) in
                try scanner.scan(
                    plane: plane, stride: stride, width: picture.width, height: picture.height, at: .now)
            }
            for code in found { feed.yield(.success(code)) }
        } catch {
            // A picture that cannot be converted is skipped. Only a missing library ends the search.
            guard error.code == .codecUnsupported else { return }
            feed.yield(.failure(error))
            feed.finish()
        }
    }
}
