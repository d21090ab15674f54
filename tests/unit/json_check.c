/* json_check FILE KEY…: is FILE one JSON object with these keys? For shell tests. */
#include <jansson.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *object = argc > 1 ? json_load_file(argv[1], 0, &error) : NULL;
    if (!json_is_object(object)) {
        fprintf(stderr, "json_check: not a JSON object: %s\n", argc > 1 ? error.text : "no file");
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        if (!json_object_get(object, argv[i])) {
            fprintf(stderr, "json_check: no key %s\n", argv[i]);
            return 1;
        }
    }
    json_decref(object);
    return 0;
}
