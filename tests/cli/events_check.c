/* events_check SCHEMA EVENTS…: every line must be one of the schema's events, with its fields and no others. A process that
 * is killed while it writes leaves a part of a line: at most MEND_TEST_TORN lines a file (0) may be no JSON.
 * events_check SCHEMA --names: the events' names. events_check SCHEMA --page: the guide's tables.
 * Knows what the schema uses: type, const, required. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *schema, *defs;
static int bad, torn;

static const char *type_name(json_t *v)
{
    return json_is_string(v)    ? "string"
           : json_is_integer(v) ? "integer"
           : json_is_real(v)    ? "number"
           : json_is_null(v)    ? "null"
                                : "other";
}

static int is_of(json_t *value, json_t *type)
{
    size_t i;
    json_t *one;
    if (json_is_array(type)) {
        json_array_foreach(type, i, one) if (is_of(value, one)) return 1;
        return 0;
    }
    const char *name = json_string_value(type);
    return strcmp(name, type_name(value)) == 0 ||
           (strcmp(name, "number") == 0 && json_is_number(value));
}

static void complain(const char *file, int line, const char *event, const char *key,
                     const char *why)
{
    printf("%s:%d: %s: %s %s\n", file, line, event, key, why);
    bad++;
}

static void check_required(json_t *rule, json_t *e, const char *file, int line, const char *event)
{
    size_t i;
    json_t *key;
    json_array_foreach(json_object_get(rule, "required"), i,
                       key) if (!json_object_get(e, json_string_value(key)))
        complain(file, line, event, json_string_value(key), "is missing");
}

static void check(const char *text, const char *file, int line)
{
    json_error_t error;
    json_t *e = json_loads(text, JSON_REJECT_DUPLICATES, &error), *value;
    const char *event = json_string_value(json_object_get(e, "event")), *key;
    json_t *rule = event ? json_object_get(defs, event) : NULL;
    if (!e && torn-- > 0)
        return;
    if (!rule) {
        complain(file, line, event ? event : text, "", e ? "is not in the schema" : error.text);
        return;
    }
    check_required(schema, e, file, line, event);
    check_required(rule, e, file, line, event);
    json_object_foreach(e, key, value)
    {
        json_t *own = json_object_get(json_object_get(rule, "properties"), key),
               *common = json_object_get(json_object_get(schema, "properties"), key),
               *property = own ? own : common, *constant = json_object_get(property, "const"),
               *type = json_object_get(property, "type");
        if (!property)
            complain(file, line, event, key, "is not in the schema");
        else if (constant ? !json_equal(constant, value) : type && !is_of(value, type))
            complain(file, line, event, key, "has another type");
    }
    json_decref(e);
}

static void check_file(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    int line = 0;
    torn = getenv("MEND_TEST_TORN") ? atoi(getenv("MEND_TEST_TORN")) : 0;
    while (f && getline(&text, &room, f) > 0)
        check(text, path, ++line);
    if (!line)
        complain(path, 0, "", "", "has no events");
    free(text);
    if (f)
        fclose(f);
}

static int
    requires(json_t *rule, const char *key)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(rule, "required"), i,
                       one) if (strcmp(json_string_value(one), key) == 0) return 1;
    return 0;
}

static void print_page(void)
{
    const char *event, *key;
    json_t *rule, *property;
    json_object_foreach(defs, event, rule)
    {
        printf("\n**%s**: %s\n", event, json_string_value(json_object_get(rule, "description")));
        if (json_object_size(json_object_get(rule, "properties")) > 1)
            printf("\n| field | type | |\n|---|---|---|\n");
        json_object_foreach(json_object_get(rule, "properties"), key, property)
        {
            json_t *type = json_object_get(property, "type");
            if (type)
                printf("| `%s` | %s%s | %s |\n", key,
                       json_is_string(type) ? json_string_value(type) : "number",
                       requires(rule, key) ? "" : ", sometimes",
                       json_string_value(json_object_get(property, "description")));
        }
    }
}

int main(int argc, char **argv)
{
    json_error_t error;
    const char *event;
    json_t *rule;
    schema = json_load_file(argc > 1 ? argv[1] : "", JSON_REJECT_DUPLICATES, &error);
    defs = json_object_get(schema, "$defs");
    if (argc < 3 || !defs) {
        fprintf(stderr, "events_check: %s\n", schema ? "wrong use" : error.text);
        return 2;
    }
    if (strcmp(argv[2], "--page") == 0)
        print_page();
    else if (strcmp(argv[2], "--names") == 0)
        json_object_foreach(defs, event, rule) puts(event);
    else
        for (int i = 2; i < argc; i++)
            check_file(argv[i]);
    json_decref(schema);
    return bad ? 1 : 0;
}
