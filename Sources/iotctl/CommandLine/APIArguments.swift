public import ArgumentParser
public import GatewayAPI
import IoTCore

// Words of the API that are options here.
extension BindingRole: ExpressibleByArgument {}
extension DeviceAction: ExpressibleByArgument {}
extension GatewayEvent.Kind: ExpressibleByArgument {}
extension MessageResponses: ExpressibleByArgument {}
extension RTSPTransport: ExpressibleByArgument {}
