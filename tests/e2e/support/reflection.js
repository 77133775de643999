import protoLoader from '@grpc/proto-loader';

const field = (id, type, more = {}) => ({ id, type, ...more });
const repeated = { rule: 'repeated' };

/** The part of gRPC's reflection service that the tests need; Debian does not ship its proto. */
export const reflectionDefinition = protoLoader.fromJSON({
  nested: {
    'grpc.reflection.v1alpha': {
      nested: {
        ServerReflection: {
          methods: {
            ServerReflectionInfo: {
              requestType: 'ServerReflectionRequest',
              requestStream: true,
              responseType: 'ServerReflectionResponse',
              responseStream: true,
            },
          },
        },
        ServerReflectionRequest: {
          oneofs: { message_request: { oneof: ['file_containing_symbol', 'list_services'] } },
          fields: { file_containing_symbol: field(4, 'string'), list_services: field(7, 'string') },
        },
        ServerReflectionResponse: {
          fields: {
            file_descriptor_response: field(4, 'FileDescriptorResponse'),
            list_services_response: field(6, 'ListServiceResponse'),
            error_response: field(7, 'ErrorResponse'),
          },
        },
        FileDescriptorResponse: { fields: { file_descriptor_proto: field(1, 'bytes', repeated) } },
        ListServiceResponse: { fields: { service: field(1, 'ServiceResponse', repeated) } },
        ServiceResponse: { fields: { name: field(1, 'string') } },
        ErrorResponse: { fields: { error_code: field(1, 'int32') } },
      },
    },
  },
}, { keepCase: true, oneofs: true });
