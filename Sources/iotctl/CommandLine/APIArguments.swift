public import ArgumentParser
public import GatewayAPI
import IoTCore

// Values of the API that are also values of options.
extension BindingRole: ExpressibleByArgument {}
extension CameraLANPolicy: ExpressibleByArgument {}
extension CameraFirmwareKind: ExpressibleByArgument {}
extension CameraLivePolicy: ExpressibleByArgument {}
extension CameraRecordPolicy: ExpressibleByArgument {}
extension CameraRecordSound: ExpressibleByArgument {}
extension MotionSensitivity: ExpressibleByArgument {}
extension DeviceAction: ExpressibleByArgument {}
extension GatewayEvent.Kind: ExpressibleByArgument {}
extension KeySource: ExpressibleByArgument {}
extension MessageResponses: ExpressibleByArgument {}
extension RTSPTransport: ExpressibleByArgument {}
extension CaptureSize: ExpressibleByArgument {}
