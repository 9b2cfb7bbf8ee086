import IoTCore
import Logging
import MediaChannel
import NIOCore
import NetConfig

/// What an ONVIF camera's own detectors notice.
struct ONVIFCameraEvents: CameraEventSource {
    private let client: ONVIFEventClient
    private let logger: Logger

    /// - Returns: `nil` if the camera's settings do not ask for it.
    init?(_ settings: CameraSettings, loops: any EventLoopGroup, logger: Logger) {
        guard let service = ONVIFService(settings) else { return nil }
        client = ONVIFEventClient(service, loops: loops)
        self.logger = logger
    }

    func run(_ report: @Sendable (CameraNotice) async -> Void) async {
        var failure: ErrorCode?
        await client.run { next in
            switch next {
            case .connected:
                failure = nil
                logger.info("the camera reports what it notices")
            case .answered(let notifications):
                for notification in notifications { await report(CameraNotice(notification)) }
                await report(.goesOn)
            case .failed(let error):
                await report(.lost)
                guard failure != error.code else { return }
                failure = error.code
                logger.warning(
                    "the camera does not report what it notices",
                    metadata: ["error": "\(error)", "remedy": "\(error.remedy)"])
            }
        }
    }
}

extension CameraNotice {
    fileprivate init(_ notification: ONVIFNotification) {
        switch notification.change {
        case .begins: self = .begins(notification.type, detector: notification.detector)
        case .ends: self = .ends(notification.type, detector: notification.detector)
        case .happens: self = .happens(notification.type)
        }
    }
}
