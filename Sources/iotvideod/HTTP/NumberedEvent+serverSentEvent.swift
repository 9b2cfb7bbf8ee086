import Gateway
import GatewayAPI
import IoTCore

extension NumberedEvent {
    var serverSentEvent: ServerSentEvent {
        get throws(IoTError) {
            var text = try event.serverSentEvent
            text.id = id
            return text
        }
    }
}
